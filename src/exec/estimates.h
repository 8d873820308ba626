#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "tessera/kernel.h"

namespace tessera::exec {

/// The types of a value's tiles, as a number: equal lists have equal numbers.
using TypesId = std::int32_t;
inline constexpr TypesId unknown_types =
    -1;  // inference failed: the task will say why when it runs

/// Each list of types that occurs, once. A graph has millions of values and a handful of these.
class TypeTable {
 public:
  TypesId add(const std::vector<TileType>& types);
  const std::vector<TileType>& operator[](TypesId id) const { return lists_[id]; }
  const std::vector<std::vector<TileType>>& lists() const { return lists_; }

 private:
  std::vector<std::vector<TileType>> lists_;
  std::unordered_multimap<std::size_t, TypesId> by_hash_;
};

/// Bytes of anything that is predicted are at most so many: sums of a few still fit 64 bits.
inline constexpr double most_counted = 1e17;

/// What a task will make and take.
struct Estimate {
  TypesId types = unknown_types;
  Cost cost = {};
  /// Bytes that it needs for a while, besides its inputs and its result: what the kernels of a
  /// chain hand on to each other.
  double transient = 0;
};

/// Estimates, each combination of a step and the types of its inputs computed once.
class Estimates {
 public:
  explicit Estimates(TypeTable& types) : types_(types) {}

  /// `infer` makes the types of the result, and adds to the cost and the transient of an estimate.
  /// `step` tells apart what an operator does; inputs that are not there are unknown_types.
  template <class Infer>
  Estimate of(int op, int step, TypesId first, TypesId second, const Infer& infer) {
    const auto [place, added] = known_.try_emplace({op, step, first, second});
    if (added) place->second = once(infer);
    return place->second;
  }
  /// The same for what is not asked again.
  Estimate once(const std::function<std::vector<TileType>(Estimate&)>& infer);

 private:
  struct Question {
    std::int32_t op, step;
    TypesId first, second;
    friend bool operator==(const Question&, const Question&) = default;
  };
  struct Hash {
    std::size_t operator()(const Question& question) const noexcept;
  };
  TypeTable& types_;
  std::unordered_map<Question, Estimate, Hash> known_;
};

}  // namespace tessera::exec
