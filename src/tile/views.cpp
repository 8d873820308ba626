#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tile/sparse_layout.h"
#include "tile/strided_copy.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// A dense tile over the same storage with another shape, strides and first element.
Tile view(const Tile& tile, const Shape& shape, const Strides& strides, std::int64_t first) {
  auto rep = std::make_shared<Tile::Rep>(tile.rep());
  rep->type.shape = shape;
  rep->elements = shape.elements();
  rep->strides = strides;
  rep->contiguous = is_row_major(shape, strides);
  if (rep->elements > 0) rep->data += first * static_cast<std::int64_t>(size_of(tile.dtype()));
  return Tile(std::move(rep));
}

}  // namespace

Tile Tile::contiguous() const {
  if (is_sparse()) return dense();
  return is_contiguous() ? *this : cast(dtype());
}

Tile Tile::cast(DType to) const {
  if (is_sparse()) return to == dtype() ? *this : cast_sparse(*this, to);
  if (to == dtype() && is_contiguous()) return *this;
  MutableTile result = MutableTile::uninitialized(to, shape());
  copy_to_row_major(*this, to, result.bytes_begin());
  return std::move(result).publish();
}

Tile Tile::with_sparse_dims(int dims) const {
  TESSERA_REQUIRE(TypeError, dims >= 0 && dims <= rank(), "{} cannot have {} sparse dimensions",
                  to_string(type()), dims);
  if (dims == sparse_dims()) return *this;
  if (dims == 0) return densify(*this);
  return is_sparse() ? regroup(*this, shape(), dims) : sparsify(*this, dims);
}

Tile Tile::slice(const Index& begin, const Index& end) const {
  return slice(begin, end, Strides(begin.size(), 1));
}

Tile Tile::slice(const Index& begin, const Index& end, const Strides& step) const {
  const Shape& extents = shape();
  TESSERA_REQUIRE(TypeError,
                  begin.size() == extents.size() && end.size() == extents.size() &&
                      step.size() == extents.size(),
                  "slice {} to {} of {}: give one bound for each dimension", to_string(begin),
                  to_string(end), to_string(type()));
  Shape sliced = extents;
  Strides strides(extents.size(), 0);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    // A step back runs from begin down to end, which is then the first place not taken, -1 at
    // least.
    const bool forward = step[i] > 0;
    const bool fits = forward ? begin[i] >= 0 && begin[i] <= end[i] && end[i] <= extents[i]
                              : begin[i] < extents[i] && begin[i] >= end[i] && end[i] >= -1;
    TESSERA_REQUIRE(TypeError, step[i] != 0 && fits,
                    "slice {} to {} with step {} is out of bounds for {}", to_string(begin),
                    to_string(end), step[i], to_string(type()));
    const std::int64_t distance = forward ? end[i] - begin[i] : begin[i] - end[i];
    // Dividing by the step as it is, because the least i64 has no positive counterpart.
    sliced[i] = distance == 0 ? 0 : 1 + std::abs((distance - 1) / step[i]);
    if (!is_sparse()) {
      strides[i] = rep_->strides[i] * (sliced[i] > 1 ? step[i] : 1);
      first += rep_->strides[i] * begin[i];
    }
  }
  return is_sparse() ? slice_sparse(*this, begin, step, sliced)
                     : view(*this, sliced, strides, first);
}

Tile Tile::permute(const std::vector<std::int64_t>& axes) const {
  Shape permuted;
  Strides permuted_strides;
  std::uint32_t seen = 0;
  for (std::int64_t axis : axes) {
    const bool valid = axis >= 0 && axis < rank() && (seen >> axis & 1U) == 0;
    TESSERA_REQUIRE(TypeError, valid && std::cmp_equal(axes.size(), rank()),
                    "axes [{}] are not a permutation of the dimensions of {}",
                    fmt::join(axes, ", "), to_string(type()));
    seen |= 1U << axis;
    permuted.push_back(shape()[axis]);
    if (!is_sparse()) permuted_strides.push_back(rep_->strides[axis]);
  }
  TESSERA_REQUIRE(TypeError, std::cmp_equal(axes.size(), rank()),
                  "axes [{}] are not a permutation of the dimensions of {}", fmt::join(axes, ", "),
                  to_string(type()));
  return is_sparse() ? permute_sparse(*this, axes, permuted)
                     : view(*this, permuted, permuted_strides, 0);
}

Tile Tile::transpose() const {
  std::vector<std::int64_t> axes(rank());
  for (int i = 0; i < rank(); ++i) axes[i] = rank() - 1 - i;
  return permute(axes);
}

Tile Tile::reshape(const Shape& to) const {
  TESSERA_REQUIRE(TypeError, to.elements() == elements(),
                  "{} with {} elements cannot be reshaped into {}", to_string(type()), elements(),
                  to_string(to));
  if (is_sparse()) {
    if (to.rank() == 0) return densify(*this).reshape(to);
    return regroup(*this, to, std::clamp(sparse_dims(), 1, to.rank()));
  }
  const Tile source = contiguous();
  return view(source, to, row_major_strides(to), 0);
}

Tile Tile::broadcast(const Shape& to) const {
  if (is_sparse()) return dense().broadcast(to);
  TESSERA_REQUIRE(TypeError, broadcast_shapes(shape(), to) == to, "{} cannot be broadcast to {}",
                  to_string(type()), to_string(to));
  Strides strides(to.size(), 0);
  const std::size_t lead = to.size() - shape().size();
  for (std::size_t i = 0; i < shape().size(); ++i)
    if (shape()[i] != 1) strides[lead + i] = rep_->strides[i];
  return view(*this, to, strides, 0);
}

Tile Tile::diagonal() const {
  TESSERA_REQUIRE(TypeError, rank() >= 2, "{} has no diagonal: at least two dimensions are needed",
                  to_string(type()));
  if (is_sparse()) return diagonal_sparse(*this);
  const int last = rank() - 1;
  Shape to(shape().begin(), shape().end() - 1);
  to[last - 1] = std::min(shape()[last - 1], shape()[last]);
  Strides strides(rep_->strides.begin(), rep_->strides.end() - 1);
  strides[last - 1] = rep_->strides[last - 1] + rep_->strides[last];
  return view(*this, to, strides, 0);
}

}  // namespace tessera
