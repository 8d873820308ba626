#include "kernel/sparse_merge.h"

#include <algorithm>
#include <utility>

#include "base/stop.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// What keeps alive a tile made from parts of others.
struct SharedParts {
  Tile structure;
  Tile values;
  BufferVector<std::int64_t> offsets;
};

/// A tile on the coordinates of `structure`, without a copy of them.
Tile share_structure(const Tile& structure, DType dtype, const Tile& values) {
  auto parts = std::make_shared<SharedParts>(structure, values);
  auto rep = std::make_shared<Tile::Rep>(structure.rep());
  const std::int64_t first = structure.offsets()[0];
  if (first != 0) {
    // A view of later rows: its entries are numbered from `first`, the values from 0.
    parts->offsets.resize(structure.rows() + 1);
    std::transform(structure.offsets(), structure.offsets() + structure.rows() + 1,
                   parts->offsets.begin(), [&](std::int64_t offset) { return offset - first; });
    rep->offsets = parts->offsets.data();
    rep->coordinates += first;
  }
  rep->type.dtype = dtype;
  rep->data = dtype == DType::boolean ? nullptr : values.bytes_begin();
  rep->owner = std::move(parts);
  return Tile(std::move(rep));
}

/// Dimensions that steps of equal length pass through as one.
struct Collapsed {
  Strides extents;
  Strides strides;

  std::int64_t offset(std::int64_t position) const {
    std::int64_t offset = 0;
    for (std::size_t d = extents.size(); d-- > 1;) {
      offset += position % extents[d] * strides[d];
      position /= extents[d];
    }
    return extents.empty() ? 0 : offset + position * strides[0];
  }
};

Collapsed collapse(const Tile& dense, int begin, int end) {
  Collapsed result;
  for (int d = begin; d < end; ++d) {
    const std::int64_t extent = dense.shape()[d];
    const std::int64_t stride = dense.strides()[d];
    if (extent == 1) continue;
    const std::size_t last = result.extents.size() - 1;
    if (!result.extents.empty() && result.strides[last] == extent * stride) {
      result.extents[last] *= extent;
      result.strides[last] = stride;
    } else {
      result.extents.push_back(extent);
      result.strides.push_back(stride);
    }
  }
  return result;
}

/// Walks through the rows of both tiles in step and calls emit(row, coordinate, entry of a, entry
/// of b) at each position that either stores; an entry is -1 where a tile does not.
template <class Emit>
void merge(const Tile& a, const Tile& b, Emit emit) {
  const std::int64_t* coordinates_a = a.coordinates();
  const std::int64_t* coordinates_b = b.coordinates();
  StopPoll poll("sparse tiles were merged");
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    std::int64_t i = a.offsets()[row];
    std::int64_t j = b.offsets()[row];
    const std::int64_t end_a = a.offsets()[row + 1];
    const std::int64_t end_b = b.offsets()[row + 1];
    poll.passed(1 + 4 * (end_a - i + end_b - j));
    while (i < end_a && j < end_b) {
      const std::int64_t at_a = coordinates_a[i];
      const std::int64_t at_b = coordinates_b[j];
      emit(row, std::min(at_a, at_b), at_a <= at_b ? i : -1, at_b <= at_a ? j : -1);
      i += at_a <= at_b;
      j += at_b <= at_a;
    }
    for (; i < end_a; ++i) emit(row, coordinates_a[i], i, -1);
    for (; j < end_b; ++j) emit(row, coordinates_b[j], -1, j);
  }
}

/// The value of an entry; a sparse boolean tile has no values, what is stored is true.
template <class T>
T value_of(const T* values, std::int64_t entry) {
  if constexpr (std::is_same_v<T, bool>)
    return entry >= 0;
  else
    return entry >= 0 ? values[entry] : T{};
}

enum class Kept { either, both };

template <class T>
Aligned align(const Tile& a, const Tile& b, Kept kept) {
  const std::int64_t most =
      kept == Kept::both ? std::min(a.stored(), b.stored()) : a.stored() + b.stored();
  auto structure = std::make_shared<SparseStorage>();
  structure->offsets.assign(a.rows() + 1, 0);
  structure->coordinates.resize(most);
  MutableTile left = MutableTile::uninitialized(dtype_of<T>, {most});
  MutableTile right = MutableTile::uninitialized(dtype_of<T>, {most});
  const T* values_a = a.values<T>();
  const T* values_b = b.values<T>();
  T* to_left = left.data<T>();
  T* to_right = right.data<T>();
  std::int64_t count = 0;
  merge(a, b, [&](std::int64_t row, std::int64_t coordinate, std::int64_t in_a, std::int64_t in_b) {
    if (kept == Kept::both && (in_a < 0 || in_b < 0)) return;
    structure->offsets[row + 1] = count + 1;
    structure->coordinates[count] = coordinate;
    to_left[count] = value_of(values_a, in_a);
    to_right[count] = value_of(values_b, in_b);
    ++count;
  });
  // A row without entries ends where the one before it does.
  for (std::int64_t row = 0; row < a.rows(); ++row)
    structure->offsets[row + 1] = std::max(structure->offsets[row], structure->offsets[row + 1]);
  structure->coordinates.resize(count);
  const TileType type{DType::boolean, a.shape(), a.sparse_dims()};
  return {publish_sparse(type, std::move(structure)), std::move(left).publish().slice({0}, {count}),
          std::move(right).publish().slice({0}, {count})};
}

}  // namespace

Tile stored_values(const Tile& sparse) {
  const Shape entries{sparse.stored()};
  if (sparse.dtype() == DType::boolean) return Tile::scalar(true).broadcast(entries);
  const std::int64_t first =
      sparse.offsets()[0] * static_cast<std::int64_t>(size_of(sparse.dtype()));
  const std::byte* values = sparse.stored() > 0 ? sparse.bytes_begin() + first : nullptr;
  return Tile::wrap(sparse.dtype(), entries, values, sparse.rep().owner);
}

Tile with_values(const Tile& structure, const Tile& values) {
  if (values.dtype() == DType::boolean) return with_nonzero_values(structure, values);
  return share_structure(structure, values.dtype(), values.contiguous());
}

Tile with_nonzero_values(const Tile& structure, const Tile& values) {
  const Tile vector = values.contiguous();
  return visit_dtype(values.dtype(), [&]<class T>() {
    const T* begin = vector.data<T>();
    const std::int64_t zeros = std::count(begin, begin + vector.elements(), T{});
    if (zeros == 0) return share_structure(structure, values.dtype(), vector);
    SparseBuilder builder({values.dtype(), structure.shape(), structure.sparse_dims()},
                          vector.elements() - zeros);
    const std::int64_t first = structure.offsets()[0];
    for (std::int64_t row = 0; row < structure.rows(); ++row)
      for (std::int64_t e = structure.offsets()[row]; e < structure.offsets()[row + 1]; ++e)
        builder.add(row, structure.coordinates()[e], begin[e - first]);
    return std::move(builder).publish();
  });
}

Tile converted(const Tile& tile, DType dtype) {
  if (tile.dtype() == dtype) return tile;
  return tile.is_sparse() ? with_values(tile, stored_values(tile).cast(dtype)) : tile.cast(dtype);
}

Tile gather(const Tile& dense, const Tile& structure) {
  const Tile source = dense.broadcast(structure.shape());
  const Collapsed outer = collapse(source, 0, structure.dense_dims());
  const Collapsed inner = collapse(source, structure.dense_dims(), structure.rank());
  MutableTile result = MutableTile::uninitialized(dense.dtype(), {structure.stored()});
  visit_dtype(dense.dtype(), [&]<class T>() {
    const T* begin = source.data<T>();
    T* to = result.data<T>();
    StopPoll poll("elements were gathered");
    for (std::int64_t row = 0; row < structure.rows(); ++row) {
      const std::int64_t end = structure.offsets()[row + 1];
      poll.passed(1 + 4 * (end - structure.offsets()[row]));
      if (structure.offsets()[row] == end) continue;
      const T* from = begin + outer.offset(row);
      for (std::int64_t e = structure.offsets()[row]; e < end; ++e)
        *to++ = from[inner.offset(structure.coordinates()[e])];
    }
  });
  return std::move(result).publish();
}

Tile structure_of(const Tile& sparse) {
  return share_structure(sparse, DType::boolean, Tile::scalar(true));
}

Aligned align_union(const Tile& a, const Tile& b) {
  return visit_dtype(a.dtype(), [&]<class T>() { return align<T>(a, b, Kept::either); });
}

Aligned align_intersection(const Tile& a, const Tile& b) {
  return visit_dtype(a.dtype(), [&]<class T>() { return align<T>(a, b, Kept::both); });
}

}  // namespace tessera
