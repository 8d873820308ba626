#pragma once

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "query/versions/instances.h"

namespace tessera::query {

/// The versions of a table that have been looked at: numbers of instances, found by their indices.
class KnownVersions {
 public:
  explicit KnownVersions(const Instances& all) : numbers_(0, Hash{&all}, Same{&all}) {}

  std::optional<int> find(const Indices& indices) const {
    const auto found = numbers_.find(IndexList(indices));
    return found == numbers_.end() ? std::nullopt : std::optional<int>(*found);
  }
  void add(int instance) { numbers_.insert(instance); }

 private:
  using IndexList = std::span<const std::int64_t>;
  struct Hash {
    using is_transparent = void;
    const Instances* all;
    std::size_t operator()(IndexList indices) const {
      return XXH3_64bits(indices.data(), indices.size_bytes());
    }
    std::size_t operator()(int instance) const { return (*this)((*all)[instance].indices); }
  };
  struct Same {
    using is_transparent = void;
    const Instances* all;
    bool operator()(int a, int b) const { return a == b; }
    bool operator()(IndexList indices, int instance) const {
      return std::ranges::equal(indices, (*all)[instance].indices);
    }
    bool operator()(int instance, IndexList indices) const { return (*this)(indices, instance); }
  };
  std::unordered_set<int, Hash, Same> numbers_;
};

}  // namespace tessera::query
