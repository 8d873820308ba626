#pragma once

#include <unordered_map>

#include "tessera/ia.h"

namespace tessera::exec {

/// Renames the keys of an operator's tuples. Collisions that could not be excluded beforehand are
/// found here, whatever sites the tuples are at.
class NewKeys {
 public:
  explicit NewKeys(const ia::Plan& plan);
  /// PlanError if another tuple, or another branch of this one, already has that key.
  Key rename(const KeyFunction& function, const Key& from, int branch = 0);

 private:
  struct Origin {
    Key key;
    int branch;
    friend bool operator==(const Origin&, const Origin&) = default;
  };
  const ia::Plan& plan_;
  bool may_collide_;
  std::unordered_map<Key, Origin, KeyHash> seen_;
};

}  // namespace tessera::exec
