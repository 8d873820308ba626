#include "kernel/gustavson.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/stop.h"
#include "kernel/row_accumulators.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

constexpr const char* multiplying = "sparse matrices were multiplied";

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

  /// Makes room for a row of at most `row` entries. Of the `most` entries that there could be,
  /// `reached` were possible before it.
  void reserve(std::int64_t row, std::int64_t reached) {
    if (stored_ + row + drain_slack <= room_) return;
    constexpr std::int64_t little = std::int64_t{1} << 22;
    const double share =
        static_cast<double>(std::max<std::int64_t>(reached, 1)) / static_cast<double>(most_);
    const auto expected = static_cast<std::int64_t>(1.05 * static_cast<double>(stored_) / share);
    const std::int64_t guess = std::min(most_, std::max({little, expected, stored_ + stored_ / 2}));
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

/// Writes row i of the product out and returns how many entries it has.
template <class W, class Accumulator>
[[gnu::always_inline]] inline std::int64_t sum_row(const SparseMatrix<W>& a,
                                                   const SparseMatrix<W>& b, std::int64_t i,
                                                   Accumulator& accumulator, std::int64_t* columns,
                                                   W* values, StopPoll& poll) {
  constexpr std::int64_t ahead = 4;
  const std::int64_t remaining = a.end(a.rows - 1) - a.begin(i);  // in this row and all below
  const SparseVector<W> left = a.row(i);
  for (std::int64_t p = 0; p < left.count; ++p) {
    if (p + ahead < remaining) prefetch_row(b, left.coordinates[p + ahead]);
    const SparseVector<W> right = b.row(left.coordinates[p]);
    accumulator.add(right, left.value(p));
    poll.passed(right.count);
  }
  return accumulator.drain(columns, values);
}

template <class W, class Accumulator>
[[gnu::always_inline]] inline void multiply_rows(const SparseMatrix<W>& a, const SparseMatrix<W>& b,
                                                 std::int64_t most, Accumulator accumulator,
                                                 SparseStorage& storage) {
  InsertionAccumulator<W> few;
  EntryStore<W> entries(storage, most);
  std::int64_t reached = 0;
  StopPoll poll(multiplying);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t products = products_of_row(a, b, i);
    poll.passed(1);
    const std::int64_t bound = std::min(products, b.columns);
    entries.reserve(bound, reached);
    reached += bound;
    const std::int64_t count =
        products <= few.capacity
            ? sum_row(a, b, i, few, entries.coordinates(), entries.values(), poll)
            : sum_row(a, b, i, accumulator, entries.coordinates(), entries.values(), poll);
    entries.added(count);
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
/// Without fused multiply-adds, which would leave a remainder where products cancel exactly.
template <class W>
[[gnu::target("avx2,bmi,popcnt")]] void multiply_rows_densely_avx2(const SparseMatrix<W>& a,
                                                                   const SparseMatrix<W>& b,
                                                                   std::int64_t most,
                                                                   SparseStorage& storage) {
  multiply_rows(a, b, most, DenseAccumulator<W>(b.columns), storage);
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("popcnt");
}
#endif

}  // namespace

template <class W>
Tile gustavson(const SparseMatrix<W>& a, const SparseMatrix<W>& b, const TileType& type) {
  auto storage = std::make_shared<SparseStorage>();
  storage->offsets.assign(a.rows + 1, 0);
  std::int64_t most = 0;
  StopPoll poll(multiplying);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    poll.passed(1 + a.end(i) - a.begin(i));
    most += std::min(products_of_row(a, b, i), b.columns);
  }
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
  StopPoll poll(multiplying);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    W* row = c + i * b.columns;
    const SparseVector<W> left = a.row(i);
    poll.passed(1);
    for (std::int64_t p = 0; p < left.count; ++p) {
      const SparseVector<W> right = b.row(left.coordinates[p]);
      poll.passed(1 + right.count);
      for (std::int64_t q = 0; q < right.count; ++q) {
        W& sum = row[right.coordinates[q]];
        sum = multiply_add(sum, left.value(p), right.value(q));
      }
    }
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): W is a type
#define TESSERA_INSTANTIATE(W)                                                              \
  template Tile gustavson(const SparseMatrix<W>&, const SparseMatrix<W>&, const TileType&); \
  template void gustavson_dense(const SparseMatrix<W>&, const SparseMatrix<W>&, W*, Update);
TESSERA_FOR_WORKING_TYPES(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace tessera
