#include <llvm/IR/MDBuilder.h>

#include "kernel/jit/emitter.h"

namespace tessera::jit {

using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr std::int64_t steps_between_looks = 1 << 20;  // of about a nanosecond each

}  // namespace

void Emitter::enter(Scope* scope) {
  if (here_ != nullptr) here_->current = b_.GetInsertBlock();
  here_ = scope;
  b_.SetInsertPoint(scope->current);
}

void Emitter::continue_in(BasicBlock* block) {
  here_->current = block;
  b_.SetInsertPoint(block);
}

BasicBlock* Emitter::new_block(const char* name) {
  return BasicBlock::Create(module_.getContext(), name, function_);
}

Value* Emitter::local(llvm::Type* type, std::int64_t count) {
  llvm::IRBuilder<> builder(locals_, locals_->begin());
  auto* made = builder.CreateAlloca(type, count == 1 ? nullptr : builder.getInt64(count));
  if (count > 1) made->setAlignment(llvm::Align(64));
  return made;
}

void Emitter::open(Loop& loop, int index, Value* from, Value* to, Value* step) {
  for (Scope* around = here_; around != nullptr; around = around->outer) around->has_loops = true;
  loop.from = from;
  loop.step = step == nullptr ? code_.integer(1) : step;
  loop.values_before = values_;
  loop.header = new_block("loop");
  loop.after = new_block("behind");
  loop.body.outer = here_;
  loop.body.current = new_block("body");
  loop.body.index = index;
  {
    llvm::IRBuilder<> header(loop.header);
    loop.position = header.CreatePHI(header.getInt64Ty(), 2);
    header.CreateCondBr(header.CreateICmpSLT(loop.position, to), loop.body.current, loop.after);
  }
  loop.body.position = loop.position;
  enter(&loop.body);
}

void Emitter::close(Loop& loop) {
  if (loop.body.has_loops && loop.body.index >= 0) count_steps(code_.integer(1));
  Value* next = b_.CreateAdd(loop.position, loop.step, "", /*HasNUW=*/true, /*HasNSW=*/true);
  loop.position->addIncoming(next, b_.GetInsertBlock());
  b_.CreateBr(loop.header);
  enter(loop.body.outer);
  loop.position->addIncoming(loop.from, b_.GetInsertBlock());
  b_.CreateBr(loop.header);
  continue_in(loop.after);
}

void Emitter::count_steps(Value* steps) {
  Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), budget_), steps);
  b_.CreateStore(left, budget_);
  BasicBlock* look = new_block("look");
  BasicBlock* on = new_block("on");
  llvm::MDNode* seldom = llvm::MDBuilder(module_.getContext()).createBranchWeights(1, 1 << 20);
  b_.CreateCondBr(b_.CreateICmpSLT(left, code_.integer(0)), look, on, seldom);
  b_.SetInsertPoint(look);
  b_.CreateStore(code_.integer(steps_between_looks), budget_);
  auto* asked = llvm::FunctionType::get(b_.getInt8Ty(), false);
  Value* stopped = b_.CreateCall(asked, function_->getArg(is_stopped));
  b_.CreateCondBr(b_.CreateICmpNE(stopped, b_.getInt8(0)), stopped_, on, seldom);
  continue_in(on);
}

void Emitter::in_strips(Value* from, Value* to, std::int64_t size,
                        const std::function<void(const Strip&)>& body) {
  Loop loop;
  Value* length = code_.integer(size);
  open(loop, -1, from, to, length);
  Value* after = b_.CreateAdd(loop.position, length, "", true, true);
  body({loop.position, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, to)});
  close(loop);
}

void Emitter::lane_loop(int index, const Strip& strip, const std::function<void()>& body) {
  Loop loop;
  open(loop, index, strip.from, strip.to);
  body();
  const int size = std::max(1, (values_ - loop.values_before) / 4);
  close(loop);
  count_steps(b_.CreateMul(b_.CreateSub(strip.to, strip.from), code_.integer(size)));
}

void Emitter::plain_loops(const std::vector<int>& indices, const std::function<void()>& body) {
  const std::function<void(std::size_t)> inside = [&](std::size_t depth) {
    if (depth == indices.size()) return body();
    Loop loop;
    const int index = indices[depth];
    const bool shared = index == schedule_.shared_index();
    open(loop, index, shared ? function_->getArg(begin) : code_.integer(0),
         shared ? function_->getArg(end) : extent(index));
    inside(depth + 1);
    close(loop);
  };
  inside(0);
}

void Emitter::branch(Value* condition, const std::function<void()>& yes,
                     const std::function<void()>& no) {
  BasicBlock* merged = new_block("merged");
  const auto written = [&](const std::function<void()>& code) {
    BasicBlock* block = new_block("branch");
    Scope scope{.outer = here_, .current = block, .is_branch = true};
    const In inside(*this, scope);
    code();
    b_.CreateBr(merged);
    return block;
  };
  BasicBlock* if_yes = written(yes);
  BasicBlock* if_no = written(no);
  b_.CreateCondBr(condition, if_yes, if_no);
  continue_in(merged);
}

Value* Emitter::parameter_element(Parameter parameter, std::int64_t place) {
  Value*& known = parameter_elements_[{parameter, place}];
  if (known != nullptr) return known;
  const In outermost(*this, entry_);
  llvm::Type* type = parameter == first ? static_cast<llvm::Type*>(b_.getPtrTy()) : b_.getInt64Ty();
  return known = b_.CreateLoad(
             type, b_.CreateConstInBoundsGEP1_64(type, function_->getArg(parameter), place));
}

Value* Emitter::extent(int index) {
  const auto& known = schedule_.form().form.indices[static_cast<std::size_t>(index)].extent;
  if (known) return code_.integer(*known);
  return parameter_element(extents, schedule_.given_index(index));
}

}  // namespace tessera::jit
