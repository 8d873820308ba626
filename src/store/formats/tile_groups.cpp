#include "store/formats/tile_groups.h"

#include <algorithm>

#include "base/check.h"
#include "base/odometer.h"
#include "tessera/relation.h"

namespace tessera::store {
namespace {

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole - 1) / piece + 1; }

}  // namespace

Shape Box::shape() const {
  Shape extents = end;
  for (int d = 0; d < end.rank(); ++d) extents[d] -= begin[d];
  return extents;
}

Box Box::seen_from(const Shape& corner) const {
  Box moved = *this;
  for (int d = 0; d < corner.rank(); ++d) {
    moved.begin[d] -= corner[d];
    moved.end[d] -= corner[d];
  }
  return moved;
}

Key frontier_of(const Shape& shape, const Shape& tile) {
  constexpr std::int64_t most = 100'000'000;
  TESSERA_REQUIRE(TypeError, shape.rank() == tile.rank(),
                  "{} cannot be cut into tiles of {}: the number of dimensions differs",
                  to_string(shape), to_string(tile));
  Key frontier;
  for (int d = 0; d < shape.rank(); ++d) {
    TESSERA_REQUIRE(TypeError, tile[d] > 0,
                    "{} cannot be cut into tiles of {}: tile sizes must be positive",
                    to_string(shape), to_string(tile));
    frontier.push_back(shape[d] == 0 ? 1 : pieces(shape[d], tile[d]));
  }
  TESSERA_REQUIRE(TypeError, count_below(frontier) <= most,
                  "{} would be cut into {} tiles of {}; use larger tiles", to_string(shape),
                  count_below(frontier), to_string(tile));
  return frontier;
}

TileGroups::TileGroups(const Shape& shape, const Shape& tile, const Sizes& sizes)
    : shape_(shape), tile_(tile), frontier_(frontier_of(shape, tile)), extent_(shape.rank(), 1) {
  const int rank = shape.rank();
  std::int64_t tile_bytes = sizes.element;
  for (int d = 0; d < rank; ++d) {
    tile_[d] = std::clamp<std::int64_t>(shape[d], 1, tile[d]);
    tile_bytes *= tile_[d];
  }
  std::int64_t run = sizes.element;  // contiguous so far
  std::int64_t bytes = tile_bytes;   // of the group so far
  for (int d = rank; d-- > 0;) {
    const std::int64_t wanted = pieces(std::max<std::int64_t>(1, sizes.run), run * tile_[d]);
    const std::int64_t allowed = sizes.group / bytes;
    std::int64_t grown = std::min(wanted, allowed);
    if (sizes.slabs) grown = d > 0 ? frontier_[d] : allowed;
    extent_[d] = std::clamp<std::int64_t>(grown, 1, frontier_[d]);
    if (extent_[d] < frontier_[d]) break;
    run *= std::max<std::int64_t>(1, shape[d]);
    bytes = bytes / tile_[d] * std::max<std::int64_t>(1, shape[d]);
  }
  for (int d = 0; d < rank; ++d) {
    groups_.push_back(pieces(frontier_[d], extent_[d]));
    count_ *= groups_[d];
    if (d > 0) in_slab_ *= groups_[d];
  }
}

TileGroups::Group TileGroups::operator[](std::int64_t i) const {
  Group group{unraveled<Key>(static_cast<std::uint64_t>(i), groups_), Key(extent_.size(), 0)};
  for (std::size_t d = 0; d < extent_.size(); ++d) {
    group.first[d] *= extent_[d];
    group.end[d] = std::min(group.first[d] + extent_[d], frontier_[d]);
  }
  return group;
}

bool TileGroups::Group::is_one_tile() const {
  for (std::size_t d = 0; d < first.size(); ++d)
    if (end[d] != first[d] + 1) return false;
  return true;
}

bool TileGroups::Group::step(Key& key) const { return advance(key, first, end, key.size()); }

Box TileGroups::box_of(const Group& group) const {
  Box box{Shape(shape_.rank(), 0), Shape(shape_.rank(), 0)};
  for (int d = 0; d < shape_.rank(); ++d) {
    box.begin[d] = group.first[d] * tile_[d];
    box.end[d] = std::min(group.end[d] * tile_[d], shape_[d]);
  }
  return box;
}

Box TileGroups::box_of(const Key& key) const {
  Group group{key, key};
  for (std::int64_t& component : group.end) ++component;
  return box_of(group);
}

Box TileGroups::slab_of(const Group& group) const {
  Box box = box_of(group);
  for (int d = 1; d < shape_.rank(); ++d) {
    box.begin[d] = 0;
    box.end[d] = shape_[d];
  }
  return box;
}

std::int64_t TileGroups::most_elements() const {
  return count_ == 0 ? 0 : box_of((*this)[0]).shape().elements();
}

}  // namespace tessera::store
