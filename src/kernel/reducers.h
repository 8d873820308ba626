#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

#include "base/stop.h"
#include "kernel/form/operations.h"
#include "kernel/reduction_traversal.h"

namespace tessera {

// The reductions by what they are: most *fold* elements that `map` prepares with an associative
// `combine` and let a cell's state absorb the outcome; those that ask where an element stands
// take elements one by one.

template <class R>
concept Folding = requires {
  typename R::Accumulator;
};

/// A stride that is known to be 1, which is what vector instructions need to know.
using Adjacent = std::integral_constant<std::int64_t, 1>;

/// Folds a short run in independent chains, which the processor works on side by side.
template <Folding R, class Stride>
typename R::Accumulator fold_block(const typename R::Element* first, Stride stride,
                                   std::int64_t count) {
  constexpr std::int64_t chains = std::is_same_v<Stride, Adjacent> ? R::chains : 8;
  std::array<typename R::Accumulator, chains> partial;
  for (auto& chain : partial) chain = R::identity;
  std::int64_t i = 0;
  for (; i + chains <= count; i += chains)
    for (std::int64_t c = 0; c < chains; ++c)
      partial[c] = R::combine(partial[c], R::map(first[(i + c) * stride]));
  for (std::int64_t width = chains / 2; width > 0; width /= 2)
    for (std::int64_t c = 0; c < width; ++c)
      partial[c] = R::combine(partial[c], partial[c + width]);
  for (; i < count; ++i) partial[0] = R::combine(partial[0], R::map(first[i * stride]));
  return partial[0];
}

/// Folds by halves: the rounding error of a sum then grows with the logarithm of the count.
template <Folding R>
typename R::Accumulator fold_run(const typename R::Element* first, std::int64_t stride,
                                 std::int64_t count) {
  constexpr std::int64_t block = 512;
  if (count <= block)
    return stride == 1 ? fold_block<R>(first, Adjacent(), count)
                       : fold_block<R>(first, stride, count);
  if (count > block * block) refuse_if_stopped("elements were reduced");
  const std::int64_t half = (count / 2 + block - 1) / block * block;
  const auto left = fold_run<R>(first, stride, half);  // first, so that memory is read forwards
  return R::combine(left, fold_run<R>(first + half * stride, stride, count - half));
}

/// A sum that also keeps what rounding took from it (Knuth's two-sum).
struct CompensatedSum {
  double sum = 0;
  double lost = 0;

  void add(double value) {
    const double next = sum + value;
    const double taken = next - sum;
    lost += (sum - (next - taken)) + (value - taken);
    sum = next;
  }
  double total() const { return std::isfinite(sum) ? sum + lost : sum; }
};

/// For sums of f32, a double has digits to spare.
struct PlainSum {
  double sum = 0;
  void add(double value) { sum += value; }
  double total() const { return sum; }
};

template <class T>
struct FloatSum {
  using Element = T;
  using Accumulator = double;
  using State = std::conditional_t<std::is_same_v<T, float>, PlainSum, CompensatedSum>;
  static constexpr double identity = 0;
  static constexpr int chains = 8;
  static double map(T value) { return static_cast<double>(value); }
  static double combine(double a, double b) { return a + b; }
  static void absorb(State& state, double value) { state.add(value); }
};

template <class T>
struct Mean : FloatSum<T> {
  using Result = std::conditional_t<std::is_same_v<T, float>, float, double>;
  static Result finish(const typename FloatSum<T>::State& state, std::int64_t reduced) {
    return static_cast<Result>(state.total() / static_cast<double>(reduced));
  }
};

// The functions to fold with, and the value that changes nothing.

struct Summing : Add {
  template <class A>
  static constexpr A identity = 0;
};
struct Multiplying : Mul {
  template <class A>
  static constexpr A identity = 1;
};
struct Raising : Maximum {
  template <class A>
  static constexpr A identity = Floating<A> ? -std::numeric_limits<A>::infinity()
                                            : std::numeric_limits<A>::min();
};
struct Lowering : Minimum {
  template <class A>
  static constexpr A identity = Floating<A> ? std::numeric_limits<A>::infinity()
                                            : std::numeric_limits<A>::max();
};
struct BitAnd {
  template <class A>
  static constexpr A identity = 1;
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a & b; }
};
struct BitOr {
  template <class A>
  static constexpr A identity = 0;
  std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a | b; }
};

/// A fold whose state is an accumulator.
template <class T, class A, class F, class R = A>
struct Fold {
  using Element = T;
  using Accumulator = A;
  using Result = R;
  static constexpr A identity = F::template identity<A>;
  static constexpr int chains = 8;
  struct State {
    A value = F::template identity<A>;
  };
  static A map(T value) { return static_cast<A>(value); }
  static A combine(A a, A b) { return F()(a, b); }
  static void absorb(State& state, A value) { state.value = F()(state.value, value); }
  static R finish(const State& state, std::int64_t) { return static_cast<R>(state.value); }
};

template <class T>
struct Sum : Fold<T, std::int64_t, Summing> {};
template <Floating T>
struct Sum<T> : FloatSum<T> {
  using Result = T;
  static T finish(const typename FloatSum<T>::State& state, std::int64_t) {
    return static_cast<T>(state.total());
  }
};

template <class T>
struct Product : Fold<T, std::int64_t, Multiplying> {};
template <Floating T>
struct Product<T> : Fold<T, double, Multiplying, T> {};

/// The compiler makes vector selections of a loop over chains, but not of eight unrolled steps.
template <class T, class F>
struct Extreme : Fold<T, T, F> {
  static constexpr int chains = 32;
};
template <class T>
struct Max : Extreme<T, Raising> {};
template <class T>
struct Min : Extreme<T, Lowering> {};

/// A fold of whether elements are not zero, as NaN is not. It works on integers of 0 and 1.
template <class T, class F, class R>
struct TruthFold : Fold<T, std::int64_t, F, R> {
  static std::int64_t map(T value) { return value != T{}; }
};
template <class T>
struct CountNonzero : TruthFold<T, Summing, std::int64_t> {};
template <class T>
struct All : TruthFold<T, BitAnd, bool> {};
template <class T>
struct Any : TruthFold<T, BitOr, bool> {};

/// The least index at which the extreme element stands; the first NaN, if there is one.
template <class T, class F, class Value>
struct ExtremeIndex {
  using Element = T;
  using Result = std::int64_t;
  struct State {
    T value = {};
    std::int64_t index = -1;
  };
  static bool same(T a, T b) { return a == b || (is_nan(a) && is_nan(b)); }
  static void add(State& state, T value, std::int64_t index) {
    const bool better =
        same(value, state.value) ? index < state.index : same(F()(state.value, value), value);
    if (state.index < 0 || better) state = {value, index};
  }
  static void add_run(State& state, const T* first, std::int64_t stride, std::int64_t count,
                      std::int64_t index) {
    const T extreme = fold_run<Value>(first, stride, count);
    if (state.index >= 0 && same(F()(state.value, extreme), state.value)) return;
    std::int64_t i = 0;
    while (!same(first[i * stride], extreme)) ++i;
    state = {extreme, index + i};
  }
  static std::int64_t finish(const State& state, std::int64_t) { return state.index; }
};

template <class T>
struct ArgMax : ExtremeIndex<T, Maximum, Max<T>> {};
template <class T>
struct ArgMin : ExtremeIndex<T, Minimum, Min<T>> {};

template <class R>
void add_one(typename R::State& state, typename R::Element value, std::int64_t index) {
  if constexpr (Folding<R>)
    R::absorb(state, R::map(value));
  else
    R::add(state, value, index);
}

/// Rows into cells, eight rows at a time where they fold, so that a state is touched once for
/// eight elements.
template <class R, class Stride>
void add_rows(typename R::State* cells, std::int64_t count, const typename R::Element* first,
              Stride stride, const Rows& rows) {
  std::int64_t row = 0;
  StopPoll poll("elements were reduced");
  if constexpr (Folding<R>) {
    constexpr std::int64_t bundle = 8;
    for (; row + bundle <= rows.count; row += bundle) {
      poll.passed(bundle * count);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* p = first + row * rows.stride + i * stride;
        const auto pair = [&](std::int64_t r) {
          return R::combine(R::map(p[r * rows.stride]), R::map(p[(r + 1) * rows.stride]));
        };
        R::absorb(cells[i], R::combine(R::combine(pair(0), pair(2)), R::combine(pair(4), pair(6))));
      }
    }
  }
  for (; row < rows.count; ++row) {
    poll.passed(count);
    for (std::int64_t i = 0; i < count; ++i)
      add_one<R>(cells[i], first[row * rows.stride + i * stride], rows.index + row);
  }
}

template <class R>
constexpr Reducer reducer_of() {
  using T = typename R::Element;
  using State = typename R::State;
  Reducer reducer;
  reducer.result = dtype_of<typename R::Result>;
  reducer.state_bytes = sizeof(State);
  reducer.uses_index = !Folding<R>;
  reducer.start = [](std::byte* states, std::int64_t cells) {
    for (std::int64_t i = 0; i < cells; ++i) new (states + i * sizeof(State)) State{};
  };
  reducer.add_run = [](std::byte* state, const std::byte* first, std::int64_t stride,
                       std::int64_t count, std::int64_t index) {
    auto& cell = *reinterpret_cast<State*>(state);
    const T* elements = reinterpret_cast<const T*>(first);
    if constexpr (Folding<R>)
      R::absorb(cell, fold_run<R>(elements, stride, count));
    else
      R::add_run(cell, elements, stride, count, index);
  };
  reducer.add_across = [](std::byte* states, std::int64_t cells, const std::byte* first,
                          std::int64_t stride, const Rows& rows) {
    auto* all = reinterpret_cast<State*>(states);
    const T* elements = reinterpret_cast<const T*>(first);
    if (stride == 1)
      add_rows<R>(all, cells, elements, Adjacent(), rows);
    else
      add_rows<R>(all, cells, elements, stride, rows);
  };
  reducer.add_entries = [](std::byte* states, const std::int64_t* cells,
                           const std::int64_t* indices, const std::byte* values,
                           std::int64_t count) {
    auto* all = reinterpret_cast<State*>(states);
    const T* elements = reinterpret_cast<const T*>(values);
    for (std::int64_t i = 0; i < count; ++i) add_one<R>(all[cells[i]], elements[i], indices[i]);
  };
  reducer.finish = [](const std::byte* states, std::int64_t cells, std::int64_t reduced,
                      std::byte* results) {
    const auto* all = reinterpret_cast<const State*>(states);
    auto* out = reinterpret_cast<typename R::Result*>(results);
    for (std::int64_t i = 0; i < cells; ++i) out[i] = R::finish(all[i], reduced);
  };
  return reducer;
}

}  // namespace tessera
