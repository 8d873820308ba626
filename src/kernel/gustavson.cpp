#include "kernel/gustavson.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// Places behind a row's last entry that `DenseAccumulator::drain` may scribble on.
constexpr std::int64_t drain_slack = 2;

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

  /// Writes the row out and forgets it; returns how many entries it has.
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
    if (!zeros) return count;
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (values[i] == W{}) continue;
      columns[kept] = columns[i];
      values[kept++] = values[i];
    }
    return kept;
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
    // Stable, so that the order of the additions does not depend on the algorithm.
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

/// The rows of b that lie ahead are fetched while earlier ones are added.
template <class W>
void prefetch_row(const SparseMatrix<W>& b, std::int64_t k) {
  constexpr std::int64_t line = 64 / sizeof(std::int64_t);
  const std::int64_t begin = b.begin(k);
  __builtin_prefetch(b.coordinates + begin);
  __builtin_prefetch(b.coordinates + begin + line);
  if constexpr (!is_or_and<W>) {
    __builtin_prefetch(b.values + begin);
    __builtin_prefetch(b.values + begin + line);
  }
}

template <class W>
std::int64_t products_of_row(const SparseMatrix<W>& a, const SparseMatrix<W>& b, std::int64_t i) {
  std::int64_t products = 0;
  for (std::int64_t p = a.begin(i); p < a.end(i); ++p) {
    const std::int64_t k = a.coordinates[p];
    products += b.end(k) - b.begin(k);
  }
  return products;
}

/// The entries of the product as they come. How many there will be is not known before they are
/// computed: room is made for all if that is little, otherwise for as many as the rows so far
/// let expect.
template <class W>
class EntryStore {
 public:
  EntryStore(SparseStorage& storage, std::int64_t most) : storage_(storage), most_(most) {}

  std::int64_t* coordinates() { return storage_.coordinates.data() + stored_; }
  W* values() { return storage_.values_as<W>() + (is_or_and<W> ? 0 : stored_); }
  std::int64_t stored() const { return stored_; }
  void added(std::int64_t count) { stored_ += count; }

  /// Makes room for a row of at most `row` entries. `reached` of the `most` entries that there
  /// could be were possible before it.
  void reserve(std::int64_t row, std::int64_t reached) {
    if (stored_ + row + drain_slack <= room_) return;
    constexpr std::int64_t little = std::int64_t{1} << 22;
    const double expected = 1.05 * static_cast<double>(stored_) * static_cast<double>(most_) /
                            static_cast<double>(std::max<std::int64_t>(reached, 1));
    const std::int64_t guess =
        std::min(most_, std::max(little, static_cast<std::int64_t>(expected)));
    resize(std::max(guess, stored_ + row) + drain_slack);
  }

  void finish() {
    if (stored_ < room_ / 2) resize(stored_);
    storage_.coordinates.resize(stored_);
    storage_.values.resize(stored_ * value_bytes);
  }

 private:
  static constexpr std::int64_t value_bytes = is_or_and<W> ? 0 : sizeof(W);

  void resize(std::int64_t room) {
    BufferVector<std::int64_t> coordinates(room);
    BufferVector<std::byte> values(room * value_bytes);
    std::copy_n(storage_.coordinates.data(), stored_, coordinates.data());
    std::copy_n(storage_.values.data(), stored_ * value_bytes, values.data());
    storage_.coordinates = std::move(coordinates);
    storage_.values = std::move(values);
    room_ = room;
  }

  SparseStorage& storage_;
  std::int64_t most_;
  std::int64_t stored_ = 0;
  std::int64_t room_ = 0;
};

template <class W, class Accumulator>
[[gnu::always_inline]] inline void multiply_rows(const SparseMatrix<W>& a, const SparseMatrix<W>& b,
                                                 std::int64_t most, Accumulator accumulator,
                                                 SparseStorage& storage) {
  constexpr std::int64_t ahead = 4;
  const std::int64_t last = a.end(a.rows - 1);
  EntryStore<W> entries(storage, most);
  std::int64_t reached = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t row = std::min(products_of_row(a, b, i), b.columns);
    entries.reserve(row, reached);
    reached += row;
    const SparseVector<W> left = a.row(i);
    for (std::int64_t p = 0; p < left.count; ++p) {
      if (a.begin(i) + p + ahead < last) prefetch_row(b, left.coordinates[p + ahead]);
      accumulator.add(b.row(left.coordinates[p]), left.value(p));
    }
    entries.added(accumulator.drain(entries.coordinates(), entries.values()));
    storage.offsets[i + 1] = entries.stored();
  }
  entries.finish();
}

template <class W>
void multiply_rows_densely(const SparseMatrix<W>& a, const SparseMatrix<W>& b, std::int64_t most,
                           SparseStorage& storage) {
  multiply_rows(a, b, most, DenseAccumulator<W>(b.columns), storage);
}

#ifdef __x86_64__
template <class W>
[[gnu::target("avx2,fma,bmi,popcnt")]] void multiply_rows_densely_avx2(const SparseMatrix<W>& a,
                                                                       const SparseMatrix<W>& b,
                                                                       std::int64_t most,
                                                                       SparseStorage& storage) {
  multiply_rows(a, b, most, DenseAccumulator<W>(b.columns), storage);
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}
#endif

}  // namespace

template <class W>
Tile gustavson(const SparseMatrix<W>& a, const SparseMatrix<W>& b, const TileType& type) {
  auto storage = std::make_shared<SparseStorage>();
  storage->offsets.assign(a.rows + 1, 0);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) most += std::min(products_of_row(a, b, i), b.columns);
  constexpr std::int64_t always_narrow = 4096;
  if (most == 0) {
    return publish_sparse(type, std::move(storage));
  } else if (b.columns > std::max(always_narrow, most)) {
    multiply_rows(a, b, most, SortingAccumulator<W>(), *storage);
#ifdef __x86_64__
  } else if (has_avx2()) {
    multiply_rows_densely_avx2(a, b, most, *storage);
#endif
  } else {
    multiply_rows_densely(a, b, most, *storage);
  }
  return publish_sparse(type, std::move(storage));
}

template <class W>
void gustavson_dense(const SparseMatrix<W>& a, const SparseMatrix<W>& b, W* c, Update update) {
  if (update == Update::overwrite) std::fill_n(c, a.rows * b.columns, W{});
  for (std::int64_t i = 0; i < a.rows; ++i) {
    W* row = c + i * b.columns;
    const SparseVector<W> left = a.row(i);
    for (std::int64_t p = 0; p < left.count; ++p) {
      const SparseVector<W> right = b.row(left.coordinates[p]);
      for (std::int64_t q = 0; q < right.count; ++q) {
        W& sum = row[right.coordinates[q]];
        sum = multiply_add(sum, left.value(p), right.value(q));
      }
    }
  }
}

#define TESSERA_INSTANTIATE(W)                                                              \
  template Tile gustavson(const SparseMatrix<W>&, const SparseMatrix<W>&, const TileType&); \
  template void gustavson_dense(const SparseMatrix<W>&, const SparseMatrix<W>&, W*, Update);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::uint64_t)
TESSERA_INSTANTIATE(std::uint8_t)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
