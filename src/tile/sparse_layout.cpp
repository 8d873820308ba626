#include "tile/sparse_layout.h"

#include <algorithm>
#include <cstring>

#include "base/odometer.h"
#include "base/stop.h"
#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

constexpr const char* rearranging = "the entries of a sparse tile were rearranged";

/// Calls f(linear position, entry) for each stored entry, in order.
template <class F>
void for_each_entry(const Tile& tile, F&& f) {
  const std::int64_t width = sparse_extent(tile.type());
  StopPoll poll(rearranging);
  for (std::int64_t row = 0; row < tile.rows(); ++row) {
    poll.passed(1 + 8 * (tile.offsets()[row + 1] - tile.offsets()[row]));
    for (std::int64_t e = tile.offsets()[row]; e < tile.offsets()[row + 1]; ++e)
      f(row * width + tile.coordinates()[e], e);
  }
}

struct Entry {
  std::int64_t position;  // linear, in the new tile
  std::int64_t source;    // the entry in the old one
};

/// A tile of `type` with entries of `source` at new linear positions, in increasing order.
Tile assemble(const TileType& type, const Tile& source, const std::vector<Entry>& entries) {
  auto storage = std::make_shared<SparseStorage>();
  const std::int64_t rows = dense_extent(type);
  const std::int64_t width = std::max<std::int64_t>(sparse_extent(type), 1);
  const std::size_t size = type.dtype == DType::boolean ? 0 : size_of(type.dtype);
  storage->offsets.assign(rows + 1, 0);
  storage->coordinates.resize(entries.size());
  storage->values.resize(entries.size() * size);
  StopPoll poll(rearranging);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    poll.passed(4);
    ++storage->offsets[entries[i].position / width + 1];
    storage->coordinates[i] = entries[i].position % width;
    if (size > 0)
      std::memcpy(storage->values.data() + i * size,
                  source.bytes_begin() + entries[i].source * static_cast<std::int64_t>(size), size);
  }
  for (std::int64_t row = 0; row < rows; ++row) storage->offsets[row + 1] += storage->offsets[row];
  return publish_sparse(type, std::move(storage));
}

std::int64_t ravel(const Index& index, const Shape& shape) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return position;
}

void sort_by_position(std::vector<Entry>& entries) {
  StopPoll poll(rearranging);
  const auto before = [&](const Entry& a, const Entry& b) {
    poll.passed(4);
    return a.position < b.position;
  };
  if (!std::is_sorted(entries.begin(), entries.end(), before))
    std::sort(entries.begin(), entries.end(), before);
}

}  // namespace

Tile densify(const Tile& sparse) {
  MutableTile result = MutableTile::zeros(sparse.dtype(), sparse.shape());
  visit_dtype(sparse.dtype(), [&]<class T>() {
    T* to = result.data<T>();
    const T* values = sparse.values<T>();
    for_each_entry(sparse, [&](std::int64_t position, std::int64_t entry) {
      if constexpr (std::is_same_v<T, bool>)
        to[position] = true;
      else
        to[position] = values[entry];
    });
  });
  return std::move(result).publish();
}

Tile sparsify(const Tile& dense, int sparse_dims) {
  const Tile source = dense.contiguous();
  const TileType type{dense.dtype(), dense.shape(), sparse_dims};
  return visit_dtype(dense.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    const auto zeros = std::count(from, from + source.elements(), T{});
    auto storage = std::make_shared<SparseStorage>();
    const std::int64_t rows = dense_extent(type);
    const std::int64_t width = sparse_extent(type);
    const auto stored = static_cast<std::size_t>(source.elements() - zeros);
    storage->offsets.resize(rows + 1);
    storage->coordinates.resize(stored);
    if constexpr (!std::is_same_v<T, bool>) storage->values.resize(stored * sizeof(T));
    T* values = storage->values_as<T>();
    std::int64_t entry = 0;
    storage->offsets[0] = 0;
    StopPoll poll(rearranging);
    for (std::int64_t row = 0; row < rows; ++row) {
      poll.passed(1 + width);
      for (std::int64_t j = 0; j < width; ++j) {
        const T value = from[row * width + j];
        if (value == T{}) continue;
        storage->coordinates[entry] = j;
        if constexpr (!std::is_same_v<T, bool>) values[entry] = value;
        ++entry;
      }
      storage->offsets[row + 1] = entry;
    }
    return publish_sparse(type, std::move(storage));
  });
}

Tile regroup(const Tile& sparse, const Shape& shape, int sparse_dims) {
  const TileType type{sparse.dtype(), shape, sparse_dims};
  std::vector<Entry> entries;
  entries.reserve(sparse.stored());
  for_each_entry(sparse, [&](std::int64_t position, std::int64_t entry) {
    entries.push_back({position, entry});
  });
  return assemble(type, sparse, entries);
}

Tile cast_sparse(const Tile& sparse, DType dtype) {
  const TileType type{dtype, sparse.shape(), sparse.sparse_dims()};
  const std::int64_t first = sparse.offsets()[0];
  return visit_dtype(sparse.dtype(), [&]<class From>() {
    const From* values = sparse.values<From>();
    const auto value = [&]<class To>(std::int64_t entry) {
      if constexpr (std::is_same_v<From, bool>)
        return convert<To>(true);
      else
        return convert<To>(values[entry]);
    };
    if (dtype == DType::boolean) {  // which cannot store a false
      SparseBuilder builder(type, sparse.stored());
      for (std::int64_t row = 0; row < sparse.rows(); ++row)
        for (std::int64_t e = sparse.offsets()[row]; e < sparse.offsets()[row + 1]; ++e)
          builder.add(row, sparse.coordinates()[e], value.template operator()<bool>(e));
      return std::move(builder).publish();
    }
    // What is stored stays stored, zeros too: in a product they count, and not as nothing.
    auto storage = std::make_shared<SparseStorage>();
    const std::int64_t stored = sparse.stored();
    for (std::int64_t row = 0; row <= sparse.rows(); ++row)
      storage->offsets.push_back(sparse.offsets()[row] - first);
    storage->coordinates.assign(sparse.coordinates() + first,
                                sparse.coordinates() + first + stored);
    storage->values.resize(stored * size_of(dtype));
    visit_dtype(dtype, [&]<class To>() {
      To* to = storage->values_as<To>();
      for (std::int64_t e = 0; e < stored; ++e) to[e] = value.template operator()<To>(first + e);
    });
    return publish_sparse(type, std::move(storage));
  });
}

Tile slice_sparse(const Tile& sparse, const Index& begin, const Strides& step,
                  const Shape& sliced) {
  const TileType type{sparse.dtype(), sliced, sparse.sparse_dims()};
  bool only_first = sparse.dense_dims() > 0 && sliced.elements() > 0 && step[0] == 1;
  for (int i = 1; i < sparse.rank(); ++i)
    only_first = only_first && begin[i] == 0 && step[i] == 1 && sliced[i] == sparse.shape()[i];
  if (only_first) {
    auto rep = std::make_shared<Tile::Rep>(sparse.rep());
    rep->type = type;
    rep->elements = sliced.elements();
    rep->rows = dense_extent(type);
    rep->offsets += begin[0] * (sparse.rows() / sparse.shape()[0]);
    return Tile(std::move(rep));
  }
  std::vector<Entry> entries;
  for_each_entry(sparse, [&](std::int64_t position, std::int64_t entry) {
    Index index = unraveled<Index>(static_cast<std::uint64_t>(position), sparse.shape());
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t distance = index[i] - begin[i];
      const std::int64_t place = distance / step[i];
      if (distance % step[i] != 0 || place < 0 || place >= sliced[i]) return;
      index[i] = place;
    }
    entries.push_back({ravel(index, sliced), entry});
  });
  sort_by_position(entries);
  return assemble(type, sparse, entries);
}

Tile permute_sparse(const Tile& sparse, const std::vector<std::int64_t>& axes,
                    const Shape& permuted) {
  std::vector<Entry> entries;
  entries.reserve(sparse.stored());
  for_each_entry(sparse, [&](std::int64_t position, std::int64_t entry) {
    const Index index = unraveled<Index>(static_cast<std::uint64_t>(position), sparse.shape());
    Index to(index.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) to[i] = index[axes[i]];
    entries.push_back({ravel(to, permuted), entry});
  });
  sort_by_position(entries);
  return assemble({sparse.dtype(), permuted, sparse.sparse_dims()}, sparse, entries);
}

Tile diagonal_sparse(const Tile& sparse) {
  const int last = sparse.rank() - 1;
  Shape to(sparse.shape().begin(), sparse.shape().end() - 1);
  to[last - 1] = std::min(sparse.shape()[last - 1], sparse.shape()[last]);
  std::vector<Entry> entries;
  for_each_entry(sparse, [&](std::int64_t position, std::int64_t entry) {
    const Index index = unraveled<Index>(static_cast<std::uint64_t>(position), sparse.shape());
    if (index[last] != index[last - 1]) return;
    entries.push_back({ravel(Index(index.begin(), index.end() - 1), to), entry});
  });
  const int sparse_dims = std::clamp(sparse.sparse_dims(), 1, to.rank());
  return assemble({sparse.dtype(), to, sparse_dims}, sparse, entries);
}

}  // namespace tessera
