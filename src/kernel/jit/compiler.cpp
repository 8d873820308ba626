#include "kernel/form/compiled_form.h"
#include "kernel/jit/emitter.h"
#include "kernel/jit/session.h"

namespace tessera::jit {
namespace {

class Code final : public CompiledForm {
 public:
  Code(std::unique_ptr<MachineCode> code, int shared_index)
      : code_(std::move(code)),
        function_(reinterpret_cast<FormFunction>(code_->function())),
        shared_index_(shared_index) {}

  End run(const Arguments& given, std::int64_t begin, std::int64_t end) const override {
    return static_cast<End>(function_(given.result, given.first, given.strides,
                                      given.argument_extents, given.extents, begin, end,
                                      given.is_stopped));
  }
  int shared_index() const override { return shared_index_; }

 private:
  std::unique_ptr<MachineCode> code_;
  FormFunction function_;
  int shared_index_;
};

/// LLVM takes longer for each instruction, the more there are in a loop, and hears no stop.
constexpr std::size_t most_terms = 3000;

class Compiler final : public FormCompiler {
 public:
  explicit Compiler(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  std::unique_ptr<const CompiledForm> compile(const FormToCompile& form) override {
    if (form.form.dtypes.size() > most_terms) return nullptr;
    const Schedule schedule(form);
    std::unique_ptr<MachineCode> code =
        session_->compile([&](llvm::Module& module, const std::string& name) {
          Emitter(schedule, module).emit(name);
        });
    if (code == nullptr) return nullptr;
    const int shared = schedule.shared_index();
    return std::make_unique<Code>(std::move(code), shared < 0 ? -1 : schedule.given_index(shared));
  }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace
}  // namespace tessera::jit

extern "C" tessera::FormCompiler* tessera_form_compiler() {
  std::unique_ptr<tessera::jit::Session> session = tessera::jit::Session::open();
  if (session == nullptr) return nullptr;
  // Never freed: code may run until the process ends.
  return new tessera::jit::Compiler(std::move(session));
}
