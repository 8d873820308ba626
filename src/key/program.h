#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "key/expression.h"

namespace tessera {

/// Division of 32-bit numbers by a constant as a multiplication: with m = ceil(2^64 / d), the
/// quotient n div d is the high half of m * n, exactly, for all n and d below 2^32 (Lemire, Kaser
/// and Kurz, "Faster remainder by direct computation", 2019).
class SmallDivisor {
 public:
  explicit SmallDivisor(std::uint32_t divisor) : divisor_(divisor), inverse_(~0ull / divisor + 1) {}
  std::int64_t quotient(std::uint32_t n) const {
    if (divisor_ == 1) return n;  // 2^64 does not fit
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(inverse_) * n) >> 64);
  }
  std::int64_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }

 private:
  std::int64_t divisor_;
  std::uint64_t inverse_;
};

/// Expressions compiled to straight-line code that runs over a block of points at a time: the
/// cost of interpreting is paid once a block, and the loops are plain enough to be vectorised.
/// Opaque functions cannot be compiled.
class KeyProgram {
 public:
  static constexpr std::size_t block = 512;
  using Column = std::array<std::int64_t, block>;

  explicit KeyProgram(const std::vector<KeyExpr>& outputs);
  explicit KeyProgram(const KeyPredicate& output);  // 1 where it holds, 0 where not

  /// Computes the outputs at the first `count` points. False says that an expression may be
  /// without value (an overflow, a division by zero) at one of them; it may also be one that
  /// `and` and `or` would not have reached, so the points are then to be looked at singly.
  bool run(std::span<const Column> points, std::size_t count);
  const std::int64_t* output(std::size_t index) const { return registers_[outputs_[index]]; }

 private:
  enum class Connective { both, either, neither };
  struct Instruction {
    std::variant<Arithmetic, Comparison, Connective> op;
    int left, right;
    Column* result;
    std::optional<SmallDivisor> divisor;
  };
  class Compiler;

  bool execute(Arithmetic op, const Instruction& instruction, std::size_t count) const;
  bool execute(Comparison op, const Instruction& instruction, std::size_t count) const;
  bool execute(Connective op, const Instruction& instruction, std::size_t count) const;
  bool divide(Arithmetic op, const Instruction& instruction, std::size_t count) const;

  std::vector<Instruction> instructions_;
  std::vector<int> outputs_;
  std::vector<std::pair<int, int>> inputs_;  // register, component
  std::vector<std::unique_ptr<Column>> storage_;
  std::vector<const std::int64_t*> registers_;
};

}  // namespace tessera
