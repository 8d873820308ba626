#include "kernel/jit/session.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace tessera::jit {
namespace {

using namespace llvm;

/// TESSERA_JIT=show prints the code of each form, and what is wrong with it.
bool is_shown() {
  const char* said = std::getenv("TESSERA_JIT");
  return said != nullptr && std::string_view(said) == "show";
}

/// What code may call.
orc::SymbolMap library_functions(orc::LLJIT& jit) {
  orc::SymbolMap map;
  const auto add = [&](const char* name, auto* function) {
    map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                      JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  add("memcpy", &std::memcpy);
  add("memset", &std::memset);
  add("memmove", &std::memmove);
  using Double = double (*)(double, double);
  using Float = float (*)(float, float);
  using DoubleOfOne = double (*)(double);
  using FloatOfOne = float (*)(float);
  add("pow", static_cast<Double>(&::pow));
  add("powf", static_cast<Float>(&::powf));
  add("fmod", static_cast<Double>(&::fmod));
  add("fmodf", static_cast<Float>(&::fmodf));
  add("floor", static_cast<DoubleOfOne>(&::floor));
  add("floorf", static_cast<FloatOfOne>(&::floorf));
  add("exp2", static_cast<DoubleOfOne>(&::exp2));
  add("exp2f", static_cast<FloatOfOne>(&::exp2f));
  return map;
}

/// What matters of LLVM's own pipeline for one function of nested loops, which takes half its time:
/// values in registers, invariants outside of loops, vector instructions. Loops are not split by
/// conditions: a stencil would have one copy for each combination of its borders.
constexpr const char* pipeline =
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,"
    "loop-vectorize,instcombine<no-verify-fixpoint>,"
    "simplifycfg<hoist-common-insts;sink-common-insts>,loop-mssa(licm),early-cse)";

bool optimize(Module& module, TargetMachine& machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager calls;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline)) {
    consumeError(std::move(error));
    return false;
  }
  passes.run(module, modules);
  return true;
}

std::unique_ptr<MemoryBuffer> object_of(Module& module, TargetMachine& machine) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream)) return nullptr;
  passes.run(module);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes), false);
}

}  // namespace

MachineCode::~MachineCode() { consumeError(tracker_->remove()); }

std::unique_ptr<Session> Session::open() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    consumeError(host.takeError());
    return nullptr;
  }
  host->setCodeGenOptLevel(CodeGenOptLevel::Default);
  host->setRelocationModel(Reloc::PIC_);
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit) {
    consumeError(jit.takeError());
    return nullptr;
  }
  if (llvm::Error error =
          (*jit)->getMainJITDylib().define(orc::absoluteSymbols(library_functions(**jit)))) {
    consumeError(std::move(error));
    return nullptr;
  }
  (*jit)->getExecutionSession().setErrorReporter([](llvm::Error error) {
    if (is_shown()) errs() << error << '\n';
    consumeError(std::move(error));
  });
  return std::unique_ptr<Session>(new Session(std::move(*host), std::move(*jit)));
}

std::unique_ptr<MachineCode> Session::compile(
    const std::function<void(Module&, const std::string& name)>& emit) {
  auto machine = orc::JITTargetMachineBuilder(host_).createTargetMachine();
  if (!machine) {
    consumeError(machine.takeError());
    return nullptr;
  }
  const std::string name = "form" + std::to_string(++compiled_);
  std::unique_ptr<MemoryBuffer> object;
  {
    LLVMContext context;
    Module module(name, context);
    module.setDataLayout((*machine)->createDataLayout());
    module.setTargetTriple((*machine)->getTargetTriple().str());
    emit(module, name);
    const bool shown = is_shown();
    if (shown) module.print(errs(), nullptr);
    if (verifyModule(module, shown ? &errs() : nullptr)) return nullptr;
    if (!optimize(module, **machine)) return nullptr;
    if (shown) module.print(errs(), nullptr);
    object = object_of(module, **machine);
  }
  if (object == nullptr) return nullptr;
  orc::ResourceTrackerSP tracker = jit_->getMainJITDylib().createResourceTracker();
  if (llvm::Error error = jit_->addObjectFile(tracker, std::move(object))) {
    consumeError(std::move(error));
    return nullptr;
  }
  auto address = jit_->lookup(name);
  if (!address) {
    consumeError(address.takeError());
    consumeError(tracker->remove());
    return nullptr;
  }
  return std::make_unique<MachineCode>(std::move(tracker), address->toPtr<void*>());
}

}  // namespace tessera::jit
