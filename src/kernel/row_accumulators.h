#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/dot.h"

namespace tessera {

// Three ways to sum the products of one row of a sparse result and to bring them in order. All take
// rows of the right operand with `add` and write the sum out with `drain`, which returns how many
// entries it has; `drain` may scribble on `drain_slack` places behind them. The products of a
// column are summed in the order they come in, so that the result does not depend on the way.

inline constexpr std::int64_t drain_slack = 2;

/// Drops the entries whose value is zero and returns how many are left.
template <class W>
std::int64_t drop_zeros(std::int64_t* columns, W* values, std::int64_t count) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] == W{}) continue;
    columns[kept] = columns[i];
    values[kept++] = values[i];
  }
  return kept;
}

/// Inserts each product at its place: for rows of a few.
template <class W>
class InsertionAccumulator {
 public:
  static constexpr std::int64_t capacity = 8;

  [[gnu::always_inline]] void add(const SparseVector<W>& row, W weight) {
    for (std::int64_t p = 0; p < row.count; ++p) {
      const std::int64_t column = row.coordinates[p];
      const W product = multiply(weight, row.value(p));
      std::int64_t place = count_;
      while (place > 0 && columns_[place - 1] > column) --place;
      if (place > 0 && columns_[place - 1] == column) {
        values_[place - 1] = plus(values_[place - 1], product);
        continue;
      }
      for (std::int64_t i = count_++; i > place; --i) {
        columns_[i] = columns_[i - 1];
        values_[i] = values_[i - 1];
      }
      columns_[place] = column;
      values_[place] = product;
    }
  }

  [[gnu::always_inline]] std::int64_t drain(std::int64_t* columns, W* values) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      columns[kept] = columns_[i];
      if constexpr (!is_or_and<W>) values[kept] = values_[i];
      kept += values_[i] != W{};
    }
    count_ = 0;
    return kept;
  }

 private:
  std::int64_t columns_[capacity];
  W values_[capacity];
  std::int64_t count_ = 0;
};

/// The sums of one row in a dense array, and a bitmap of those that were touched: read in order, it
/// yields the columns sorted without a sort. Blocks of 4096 columns that nobody touched are
/// skipped.
template <class W>
class DenseAccumulator {
 public:
  explicit DenseAccumulator(std::int64_t columns)
      : sums_(is_or_and<W> ? 0 : columns),
        blocks_(columns / block_columns + 1),
        touched_(blocks_.size() * words_a_block) {}

  [[gnu::always_inline]] void add(const SparseVector<W>& row, W weight) {
    W* sums = sums_.data();
    std::uint64_t* touched = touched_.data();
    std::uint8_t* blocks = blocks_.data();
    for (std::int64_t p = 0; p < row.count; ++p) {
      const auto column = static_cast<std::uint64_t>(row.coordinates[p]);
      if constexpr (!is_or_and<W>) sums[column] += weight * row.values[p];
      touched[column / 64] |= std::uint64_t{1} << (column % 64);
      blocks[column / block_columns] = 1;
    }
  }

  [[gnu::always_inline]] std::int64_t drain(std::int64_t* columns, W* values) {
    std::int64_t* end = columns;
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      if (std::exchange(blocks_[block], 0) != 0) end = drain_block(block, end);
    if constexpr (is_or_and<W>) {
      return end - columns;
    } else {
      return take_sums(columns, end, values);
    }
  }

 private:
  static constexpr std::size_t words_a_block = 64;
  static constexpr std::size_t block_columns = 64 * words_a_block;

  static std::int64_t lowest(std::uint64_t bits) {
    return std::countr_zero(bits | (std::uint64_t{1} << 63));  // spares the test for zero
  }

  [[gnu::always_inline]] std::int64_t* drain_block(std::size_t block, std::int64_t* out) {
    std::uint64_t* touched = touched_.data() + block * words_a_block;
    std::uint64_t occupied = 0;
    for (std::size_t i = 0; i < words_a_block; ++i) occupied |= std::uint64_t{touched[i] != 0} << i;
    for (; occupied != 0; occupied &= occupied - 1) {
      const std::int64_t word = lowest(occupied);
      const auto first = static_cast<std::int64_t>(block * block_columns) + word * 64;
      std::uint64_t bits = std::exchange(touched[word], 0);
      std::int64_t* const end = out + std::popcount(bits);
      // Most words have one or two bits. Writing both, needed or not, saves a branch that cannot be
      // foretold, which is most of what sorting costs.
      for (int i = 0; i < 2; ++i, bits &= bits - 1) *out++ = first + lowest(bits);
      for (; bits != 0; bits &= bits - 1) *out++ = first + lowest(bits);
      out = end;
    }
    return out;
  }

  /// Moves the sums of the columns to `values` and drops the entries whose sum is zero.
  [[gnu::always_inline]] std::int64_t take_sums(std::int64_t* columns, const std::int64_t* end,
                                                W* values) {
    const std::int64_t count = end - columns;
    W* sums = sums_.data();
    bool zeros = false;
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = std::exchange(sums[columns[i]], W{});
      zeros |= values[i] == W{};
    }
    return zeros ? drop_zeros(columns, values, count) : count;
  }

  std::vector<W> sums_;
  std::vector<std::uint8_t> blocks_;
  std::vector<std::uint64_t> touched_;
};

/// The products of one row, sorted by column and then summed: for rows so wide that an array of
/// their columns would cost more than the product itself.
template <class W>
class SortingAccumulator {
 public:
  void add(const SparseVector<W>& row, W weight) {
    for (std::int64_t p = 0; p < row.count; ++p)
      products_.push_back({row.coordinates[p], static_cast<W>(weight * row.value(p))});
  }

  std::int64_t drain(std::int64_t* columns, W* values) {
    std::ranges::stable_sort(products_, {}, &Product::column);
    std::int64_t count = 0;
    for (auto product = products_.begin(); product != products_.end();) {
      const std::int64_t column = product->column;
      W sum{};
      for (; product != products_.end() && product->column == column; ++product)
        sum = plus(sum, product->value);
      columns[count] = column;
      if constexpr (!is_or_and<W>) values[count] = sum;
      count += sum != W{};
    }
    products_.clear();
    return count;
  }

 private:
  struct Product {
    std::int64_t column;
    W value;
  };
  std::vector<Product> products_;
};

}  // namespace tessera
