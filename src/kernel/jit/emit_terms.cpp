#include "base/check.h"
#include "kernel/jit/emitter.h"

namespace tessera::jit {

using llvm::Value;

Value* Emitter::found(const Term& term) const {
  for (const Scope* scope = here_; scope != nullptr; scope = scope->outer)
    if (const auto known = scope->known.find(term.get()); known != scope->known.end())
      return known->second;
  return nullptr;
}

Emitter::Scope* Emitter::home(const Term& term) const {
  const std::set<int>& reads = schedule_.free(term);
  Scope* outermost = here_;
  for (Scope* scope = here_; scope->outer != nullptr; scope = scope->outer) {
    if (scope->is_branch) {
      if (schedule_.is_guarded(term)) break;
      continue;  // nothing is gained outside of a branch but outside of a loop around it
    }
    if (reads.contains(scope->index)) break;
    outermost = scope->outer;
  }
  return outermost;
}

Emitter::Scope& Emitter::scope_of(int index) const {
  Scope* scope = here_;
  while (scope != nullptr && scope->index != index) scope = scope->outer;
  TESSERA_INVARIANT(scope != nullptr, "index {} has no value here", index);
  return *scope;
}

bool Emitter::is_bound(const Term& term) const {
  const std::set<int>& reads = schedule_.free(term);
  return std::all_of(reads.begin(), reads.end(), [&](int index) {
    for (const Scope* scope = here_; scope != nullptr; scope = scope->outer)
      if (scope->index == index) return true;
    return false;
  });
}

bool Emitter::is_on_demand(const Term& term) const {
  if (schedule_.is_guarded(term)) return true;
  if (!schedule_.contains_fold(term)) return false;
  if (as<term::Fold>(term) != nullptr)
    return !strips_.contains(term.get()) && found(term) == nullptr && home(term) == here_;
  const std::vector<Term> parts = parts_of(term);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Term& part) { return is_on_demand(part); });
}

Value* Emitter::value(const Term& term) {
  if (Value* known = found(term)) return known;
  if (strips_.contains(term.get())) return value_across(term);
  const In scope(*this, *home(term));
  Value* made = std::visit([&](const auto& node) { return of(node, term); }, term->node);
  ++values_;
  return here_->known[term.get()] = made;
}

Value* Emitter::value_as(const Term& term, DType dtype) {
  Value* known = value(term);
  return code_.convert(known, schedule_.form().dtype(term), dtype);
}

Value* Emitter::of(const term::Number& node, const Term&) { return code_.constant(node.value); }

Value* Emitter::of(const term::Position& node, const Term&) {
  return scope_of(node.index).position;
}

Value* Emitter::of(const term::Element& node, const Term&) {
  const DType dtype = schedule_.form().arguments[static_cast<std::size_t>(node.argument)].dtype;
  llvm::Type* type = code_.type_in_memory(dtype);
  struct Way {
    Scope* scope;
    int depth;
    Value* steps;
  };
  std::vector<Way> ways;
  for (std::size_t d = 0; d < node.at.size(); ++d) {
    const Term& at = node.at[d];
    const int dimension = static_cast<int>(d);
    Value* where = value(at);
    Scope* scope = home(at);
    if (schedule_.checked() && as<term::Position>(at) == nullptr) {
      scope = here_;
      Value* limit = parameter_element(argument_extents, place_of(node.argument, dimension));
      Value* inside = b_.CreateICmpULT(where, limit);
      Value* wrong = b_.CreateZExt(b_.CreateNot(inside), b_.getInt64Ty());
      b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt64Ty(), outside_), wrong), outside_);
      where = b_.CreateSelect(inside, where, code_.integer(0));
    }
    Value* step = stride(node.argument, dimension);
    int depth = 0;
    for (const Scope* s = scope; s != nullptr; s = s->outer) ++depth;
    const In inside(*this, *scope);
    ways.push_back({scope, depth, b_.CreateMul(where, step, "", true, true)});
  }
  // What inner loops have no part in comes first.
  std::stable_sort(ways.begin(), ways.end(),
                   [](const Way& a, const Way& b) { return a.depth < b.depth; });
  Value* address = parameter_element(first, node.argument);
  for (const Way& way : ways) {
    const In inside(*this, *way.scope);
    address = b_.CreateInBoundsGEP(type, address, way.steps);
  }
  return code_.load(dtype, address);
}

int Emitter::place_of(int argument, int dimension) const {
  int place = dimension;
  for (int i = 0; i < argument; ++i)
    place += schedule_.form().arguments[static_cast<std::size_t>(i)].shape.rank();
  return place;
}

Value* Emitter::stride(int argument, int dimension) {
  if (schedule_.unit_dimension(argument) == dimension) return code_.integer(1);
  return parameter_element(strides, place_of(argument, dimension));
}

Value* Emitter::of(const term::Applied& node, const Term&) {
  std::vector<DType> dtypes;
  for (const Term& argument : node.arguments) dtypes.push_back(schedule_.form().dtype(argument));
  const DType working = node.function->working_dtype(dtypes);
  std::vector<Value*> arguments;
  for (const Term& argument : node.arguments) arguments.push_back(value_as(argument, working));
  values_ += static_cast<int>(node.function->flops);
  return code_.apply(node.function->name, working, arguments);
}

Value* Emitter::of(const term::Cast& node, const Term&) { return value_as(node.value, node.dtype); }

Value* Emitter::of(const term::Choice& node, const Term& term) {
  const DType dtype = schedule_.form().dtype(term);
  Value* condition = value_as(node.condition, DType::boolean);
  if (!is_on_demand(node.yes) && !is_on_demand(node.no)) {
    Value* yes = value_as(node.yes, dtype);
    Value* no = value_as(node.no, dtype);
    return b_.CreateSelect(condition, yes, no);
  }
  Value* chosen = local(code_.type_in_memory(dtype));
  branch(
      condition, [&] { code_.store(dtype, value_as(node.yes, dtype), chosen); },
      [&] { code_.store(dtype, value_as(node.no, dtype), chosen); });
  return code_.load(dtype, chosen);
}

}  // namespace tessera::jit
