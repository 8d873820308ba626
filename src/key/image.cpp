#include "key/image.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include "base/odometer.h"
#include "base/stop.h"
#include "key/closedness.h"
#include "key/expression.h"
#include "key/program.h"

namespace tessera {
namespace {

/// The points of a box in row-major order, a block at a time. Each component is written by itself,
/// as runs of equal values, so that the cost does not depend on how short the inner extents are.
class BoxWalk {
 public:
  explicit BoxWalk(const Key& extents) : remaining_(volume(extents)), columns_(extents.size()) {
    std::int64_t run = remaining_;
    for (const std::int64_t extent : extents) {
      run /= extent;
      components_.push_back({extent, run, run, 0});
    }
  }

  /// The size of the next block, whose points `columns` then holds; 0 after the last.
  std::size_t advance() {
    const std::int64_t count = std::min<std::int64_t>(remaining_, KeyProgram::block);
    remaining_ -= count;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (components_[i].run == 1) {
        count_up(components_[i], columns_[i].data(), count);
      } else {
        repeat(components_[i], columns_[i].data(), count);
      }
    }
    return static_cast<std::size_t>(count);
  }
  const std::vector<KeyProgram::Column>& columns() const { return columns_; }
  Key point(std::size_t lane) const {
    Key point;
    for (const auto& column : columns_) point.push_back(column[lane]);
    return point;
  }

 private:
  struct Component {
    std::int64_t extent;
    std::int64_t run;   // the number of points over which it stays the same
    std::int64_t left;  // of them, how many are still to come
    std::int64_t value;
  };

  static void count_up(Component& component, std::int64_t* column, std::int64_t count) {
    while (count > 0) {
      const std::int64_t length = std::min(count, component.extent - component.value);
      std::iota(column, column + length, component.value);
      component.value += length;
      if (component.value == component.extent) component.value = 0;
      column += length;
      count -= length;
    }
  }
  static void repeat(Component& component, std::int64_t* column, std::int64_t count) {
    while (count > 0) {
      const std::int64_t length = std::min(count, component.left);
      std::fill_n(column, length, component.value);
      component.left -= length;
      if (component.left == 0) {
        component.left = component.run;
        if (++component.value == component.extent) component.value = 0;
      }
      column += length;
      count -= length;
    }
  }

  std::int64_t remaining_;
  std::vector<Component> components_;
  std::vector<KeyProgram::Column> columns_;
};

/// Writes out the keys of blocks of points into an image.
class ImageWriter {
 public:
  explicit ImageWriter(const KeySet& keys) : keys_(keys) {
    const auto count = static_cast<std::size_t>(volume(keys.extents));
    image_.extents = keys.extents;
    image_.columns.resize(keys.map.components().size());
    for (auto& column : image_.columns) column.reserve(count);
    image_.filtered = !is_always(keys.where);
    if (image_.filtered) image_.points.reserve(count);
    if (keys.where.is_opaque() || keys.map.is_opaque()) return;
    if (image_.filtered)
      for (const KeyPredicate& conjunct : conjuncts(keys.where)) filters_.emplace_back(conjunct);
    map_.emplace(keys.map.components());
  }

  /// False after a point without a value.
  bool write(const BoxWalk& walk, std::size_t count, std::int64_t first_index) {
    return write_block(walk, count, first_index) || write_singly(walk, count, first_index);
  }
  KeyImage take() { return std::move(image_); }

 private:
  /// The fast way. A conjunct of the filter is computed at the points that have passed those
  /// before it, the map at the points that have passed all: as far as `and` goes, no expression
  /// is computed where it would not have been reached.
  bool write_block(const BoxWalk& walk, std::size_t count, std::int64_t first_index) {
    if (!map_) return false;
    if (image_.filtered) {
      passing_ = walk.columns();
      std::iota(indices_.begin(), indices_.begin() + count, first_index);
      for (KeyProgram& filter : filters_) {
        if (!filter.run(passing_, count)) return false;
        count = keep(filter.output(0), count);
      }
    }
    if (!map_->run(image_.filtered ? passing_ : walk.columns(), count)) return false;
    if (image_.filtered)
      image_.points.insert(image_.points.end(), indices_.begin(), indices_.begin() + count);
    for (std::size_t i = 0; i < image_.columns.size(); ++i)
      image_.columns[i].insert(image_.columns[i].end(), map_->output(i), map_->output(i) + count);
    image_.count += static_cast<std::int64_t>(count);
    return true;
  }

  /// Moves the points at which `holds` is 1 to the front, and counts them.
  std::size_t keep(const std::int64_t* holds, std::size_t count) {
    for (KeyProgram::Column& column : passing_) keep(holds, count, column);
    return keep(holds, count, indices_);
  }
  static std::size_t keep(const std::int64_t* holds, std::size_t count,
                          KeyProgram::Column& column) {
    std::size_t kept = 0;
    for (std::size_t lane = 0; lane < count; ++lane) {
      column[kept] = column[lane];
      kept += static_cast<std::size_t>(holds[lane]);
    }
    return kept;
  }

  /// The exact way, for opaque functions and for blocks in which something has no value.
  bool write_singly(const BoxWalk& walk, std::size_t count, std::int64_t first_index) {
    for (std::size_t lane = 0; lane < count; ++lane) {
      const Key point = walk.point(lane);
      try {
        if (!keys_.where.evaluate(point)) continue;
        const Key key = keys_.map.evaluate(point);
        for (std::size_t i = 0; i < key.size(); ++i) image_.columns[i].push_back(key[i]);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {  // what an opaque function throws is its caller's business
        image_.failure = {point, error.what()};
        return false;
      }
      if (image_.filtered) image_.points.push_back(first_index + static_cast<std::int64_t>(lane));
      ++image_.count;
    }
    return true;
  }

  const KeySet& keys_;
  std::vector<KeyProgram> filters_;
  std::optional<KeyProgram> map_;
  std::vector<KeyProgram::Column> passing_;  // the points of a block that pass, and their indices
  KeyProgram::Column indices_{};
  KeyImage image_;
};

}  // namespace

Key KeyImage::key_at(std::int64_t row) const {
  Key key;
  for (const auto& column : columns) key.push_back(column[row]);
  return key;
}

Key KeyImage::point_at(std::int64_t row) const {
  return unraveled<Key>(static_cast<std::uint64_t>(filtered ? points[row] : row), extents);
}

KeyImage image_of(const KeySet& keys) {
  BoxWalk walk(keys.extents);
  ImageWriter writer(keys);
  std::int64_t index = 0;
  while (const std::size_t count = walk.advance()) {
    refuse_if_stopped("keys were listed");
    if (!writer.write(walk, count, index)) break;
    index += static_cast<std::int64_t>(count);
  }
  return writer.take();
}

}  // namespace tessera
