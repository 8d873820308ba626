#include "kernel/jit/emitter.h"

namespace tessera::jit {

using llvm::Value;

namespace {

constexpr std::int64_t strip_across = 512;  // of states, which stay in the first cache
constexpr std::int64_t strip_alone = 1 << 15;

}  // namespace

Emitter::Emitter(const Schedule& schedule, llvm::Module& module)
    : schedule_(schedule), module_(module), b_(module.getContext()), code_(b_) {}

void Emitter::emit(const std::string& name) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* integer = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(), {pointer, pointer, pointer, pointer, pointer, integer, integer, pointer},
      false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  // Nothing that is read is the result.
  function_->getArg(result)->addAttr(llvm::Attribute::NoAlias);
  locals_ = new_block("locals");
  llvm::BasicBlock* begins = new_block("entry");
  entry_.current = begins;
  enter(&entry_);
  budget_ = local(integer);
  b_.CreateStore(code_.integer(1 << 20), budget_);
  if (schedule_.checked()) {
    outside_ = local(integer);
    b_.CreateStore(code_.integer(0), outside_);
  }
  stopped_ = new_block("stopped");
  {
    llvm::IRBuilder<> stopped(stopped_);
    stopped.CreateRet(stopped.getInt32(static_cast<int>(CompiledForm::End::stopped)));
  }
  emit_results(0, nullptr);
  Value* ended = b_.getInt32(static_cast<int>(CompiledForm::End::done));
  if (outside_ != nullptr) {
    Value* outside = b_.CreateICmpNE(b_.CreateLoad(integer, outside_), code_.integer(0));
    ended =
        b_.CreateSelect(outside, b_.getInt32(static_cast<int>(CompiledForm::End::outside)), ended);
  }
  b_.CreateRet(ended);
  b_.SetInsertPoint(locals_);
  b_.CreateBr(begins);
}

/// The loops over the result from one depth on.
void Emitter::emit_results(int depth, const Strip* strip) {
  const int rank = schedule_.rank();
  if (rank == 0)
    return code_.store(schedule_.result_dtype(), value(schedule_.value()),
                       function_->getArg(result));
  const bool shared_lane = schedule_.shared_index() == schedule_.lane();
  if (strip == nullptr && depth == schedule_.loops_around_strips()) {
    in_strips(shared_lane ? function_->getArg(begin) : code_.integer(0),
              shared_lane ? function_->getArg(end) : extent(schedule_.lane()),
              schedule_.across().empty() ? strip_alone : strip_across, [&](const Strip& known) {
                strip_begin_ = known.from;
                emit_results(depth, &known);
              });
    return;
  }
  if (strip != nullptr)
    for (const Term& fold : schedule_.across())
      if (!strips_.contains(fold.get())) {
        std::set<int> others = schedule_.free(fold);
        others.erase(schedule_.lane());
        if (others.empty() || *others.rbegin() < depth) fold_across(fold, *strip);
      }
  if (depth == rank - 1) return emit_lanes(*strip);
  plain_loops({depth}, [&] { emit_results(depth + 1, strip); });
}

void Emitter::emit_lanes(const Strip& strip) {
  lane_loop(schedule_.lane(), strip, [&] {
    Value* element = value(schedule_.value());
    code_.store(schedule_.result_dtype(), element, result_address());
  });
}

/// Row-major. A part of it is computed in each loop.
Value* Emitter::result_address() {
  llvm::Type* type = code_.type_in_memory(schedule_.result_dtype());
  Value* address = function_->getArg(result);
  for (int index = 0; index < schedule_.rank(); ++index) {
    Scope& scope = scope_of(index);
    Value* distance = nullptr;
    for (int inner = index + 1; inner < schedule_.rank(); ++inner) {
      Value* extent_of_inner = extent(inner);
      const In outermost(*this, entry_);
      distance = distance == nullptr ? extent_of_inner
                                     : b_.CreateMul(distance, extent_of_inner, "", true, true);
    }
    const In loop(*this, scope);
    Value* steps = distance == nullptr ? scope.position
                                       : b_.CreateMul(scope.position, distance, "", true, true);
    address = b_.CreateInBoundsGEP(type, address, steps);
  }
  return address;
}

}  // namespace tessera::jit
