#include "kernel/jit/emitter.h"

namespace tessera::jit {

using llvm::Value;

namespace {

constexpr std::int64_t long_strip = 1 << 15, strip_of_states = 512;

}  // namespace

Emitter::State Emitter::new_state(const Term& term, std::int64_t count) {
  const auto* fold = as<term::Fold>(term);
  State state{.dtype = state_dtype(fold->monoid, schedule_.form().dtype(fold->value)),
              .value = nullptr};
  state.value = local(code_.type_in_memory(state.dtype), count);
  if (gives_position(fold->monoid)) state.place = local(b_.getInt64Ty(), count);
  return state;
}

void Emitter::start(const Term& term, const State& state) {
  const auto* fold = as<term::Fold>(term);
  const bool places = gives_position(fold->monoid);
  const Scalar begins =
      places ? Scalar(std::int64_t{0}).cast(state.dtype) : identity_of(fold->monoid, state.dtype);
  code_.store(state.dtype, code_.constant(begins), state.value);
  if (places) b_.CreateStore(code_.integer(-1), state.place);
}

/// Folds the value at the present position.
void Emitter::step(const Term& term, const State& state) {
  const auto* fold = as<term::Fold>(term);
  if (fold->condition == nullptr)
    return update(term, state, value_as(fold->value, state.dtype), nullptr);
  Value* counts = value_as(fold->condition, DType::boolean);
  if (!is_on_demand(fold->value))
    return update(term, state, value_as(fold->value, state.dtype), counts);
  branch(
      counts, [&] { update(term, state, value_as(fold->value, state.dtype), nullptr); }, [] {});
}

void Emitter::update(const Term& term, const State& state, Value* next, Value* counts) {
  const auto* fold = as<term::Fold>(term);
  Value* before = code_.load(state.dtype, state.value);
  if (state.place == nullptr) {
    if (counts != nullptr)
      next = b_.CreateSelect(counts, next, code_.constant(identity_of(fold->monoid, state.dtype)));
    return code_.store(state.dtype, code_.combine(fold->monoid, state.dtype, before, next),
                       state.value);
  }
  Value* place_before = b_.CreateLoad(b_.getInt64Ty(), state.place);
  Value* here = place(*fold);
  Value* better = b_.CreateOr(b_.CreateICmpSLT(place_before, code_.integer(0)),
                              code_.is_better(fold->monoid, state.dtype, next, before));
  if (counts != nullptr) better = b_.CreateAnd(better, counts);
  code_.store(state.dtype, b_.CreateSelect(better, next, before), state.value);
  b_.CreateStore(b_.CreateSelect(better, here, place_before), state.place);
}

/// The present position among the indices of a fold, row-major.
Value* Emitter::place(const term::Fold& fold) {
  Value* place = code_.integer(0);
  for (int index : fold.indices) {
    Value* before = b_.CreateMul(place, extent(index));
    place = b_.CreateAdd(before, scope_of(index).position);
  }
  return place;
}

Value* Emitter::finished(const Term& term, const State& state) {
  if (state.place != nullptr) return b_.CreateLoad(b_.getInt64Ty(), state.place);
  Value* folded = code_.load(state.dtype, state.value);
  if (schedule_.partial() && term == schedule_.value()) return folded;
  return code_.convert(folded, state.dtype, schedule_.form().dtype(term));
}

Value* Emitter::of(const term::Fold& node, const Term& term) {
  std::vector<Term> together;
  bool in_order = false;
  for (const Term& fold : schedule_.folded_alike(term)) {
    if (fold != term && (found(fold) != nullptr || !is_bound(fold) || home(fold) != here_))
      continue;
    together.push_back(fold);
    in_order = in_order || gives_position(as<term::Fold>(fold)->monoid);
  }
  std::vector<State> states;
  for (const Term& fold : together) {
    states.push_back(new_state(fold, 1));
    start(fold, states.back());
  }
  const auto all_steps = [&] {
    for (std::size_t i = 0; i < together.size(); ++i) step(together[i], states[i]);
  };
  std::vector<int> loops = in_order ? node.indices : schedule_.loops_of(term);
  if (loops.empty()) {
    all_steps();
  } else {
    const int innermost = loops.back();
    loops.pop_back();
    plain_loops(loops, [&] {
      const bool shared = innermost == schedule_.shared_index();
      in_strips(shared ? function_->getArg(begin) : code_.integer(0),
                shared ? function_->getArg(end) : extent(innermost), long_strip,
                [&](const Strip& strip) { lane_loop(innermost, strip, all_steps); });
    });
  }
  for (std::size_t i = 0; i < together.size(); ++i)
    here_->known[together[i].get()] = finished(together[i], states[i]);
  return here_->known[term.get()];
}

void Emitter::fold_across(const Term& fold, const Strip& strip) {
  const State states = new_state(fold, strip_of_states);
  lane_loop(schedule_.lane(), strip, [&] { start(fold, at_lane(states)); });
  plain_loops(schedule_.loops_of(fold),
              [&] { lane_loop(schedule_.lane(), strip, [&] { step(fold, at_lane(states)); }); });
  strips_.emplace(fold.get(), states);
}

/// The state of the present position of the lane.
Emitter::State Emitter::at_lane(const State& states) {
  Value* lane = scope_of(schedule_.lane()).position;
  Value* place_in_strip = b_.CreateSub(lane, strip_begin_, "", true, true);
  State state{.dtype = states.dtype, .value = nullptr};
  state.value =
      b_.CreateInBoundsGEP(code_.type_in_memory(states.dtype), states.value, place_in_strip);
  if (states.place != nullptr)
    state.place = b_.CreateInBoundsGEP(b_.getInt64Ty(), states.place, place_in_strip);
  return state;
}

Value* Emitter::value_across(const Term& fold) {
  const In scope(*this, scope_of(schedule_.lane()));
  return here_->known[fold.get()] = finished(fold, at_lane(strips_.at(fold.get())));
}

}  // namespace tessera::jit
