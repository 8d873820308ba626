#pragma once

namespace tessera {

/// How tightly the operators of key expressions bind, the loosest first.
enum class KeyBinding { disjunction, conjunction, negation, comparison, sum, product, sign, atom };

inline KeyBinding tighter(KeyBinding binding) {
  return static_cast<KeyBinding>(static_cast<int>(binding) + 1);
}

}  // namespace tessera
