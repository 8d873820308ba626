#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <functional>
#include <memory>

namespace tessera::jit {

/// Machine code in memory, which is freed with this.
class MachineCode {
 public:
  MachineCode(llvm::orc::ResourceTrackerSP tracker, void* function)
      : tracker_(std::move(tracker)), function_(function) {}
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  void* function() const { return function_; }

 private:
  llvm::orc::ResourceTrackerSP tracker_;
  void* function_;
};

/// LLVM, for the processor that it runs on.
class Session {
 public:
  /// Null if LLVM has no code for this processor.
  static std::unique_ptr<Session> open();

  /// `emit` writes a function of this name into a module. Null if it does not compile. By several
  /// threads at once.
  std::unique_ptr<MachineCode> compile(
      const std::function<void(llvm::Module&, const std::string& name)>& emit);

 private:
  Session(llvm::orc::JITTargetMachineBuilder host, std::unique_ptr<llvm::orc::LLJIT> jit)
      : host_(std::move(host)), jit_(std::move(jit)) {}

  llvm::orc::JITTargetMachineBuilder host_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::atomic<std::uint64_t> compiled_ = 0;
};

}  // namespace tessera::jit
