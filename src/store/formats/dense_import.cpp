#include "store/formats/dense_import.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "base/parallel.h"
#include "store/formats/tensor_progress.h"
#include "tile/buffer.h"
#include "tile/strided_copy.h"

namespace tessera::store {
namespace {

/// The same where they are copied once more anyway, so that a larger group costs nothing.
constexpr std::int64_t longer_run = 128 << 10;

class Cutter {
 public:
  Cutter(ArraySource& source, const FormatOptions& options, const std::string& suffix,
         Receiver& into)
      : source_(source),
        array_(source.array()),
        dtype_(options.dtype.value_or(dtype_for(array_.element))),
        shape_(array_.column_major ? reversed(array_.shape) : array_.shape),
        tile_(requested_tile(options, shape_.rank()).value_or(chosen_tile(dtype_, shape_))),
        suffix_(suffix),
        into_(into),
        progress_(shape_, source.bytes_in_file(), into) {
    (void)frontier_of(shape_, tile_);  // before anything begins
    for (int d = 0; d < shape_.rank(); ++d) tile_[d] = std::min(tile_[d], shape_[d]);
    plan(options);
  }

  /// Whether the tiles would take too much memory, as they can only be read whole slabs at a time.
  bool needs_copy(const FormatOptions& options) const {
    return source_.access() == ArraySource::Access::in_order && group_bytes() > options.memory;
  }

  void run() {
    tensor_ = into_.begin({suffix_, {dtype_, tile_, 0}, Presence::continuous});
    do_in_parallel(groups_->count(), threads_, [&](std::int64_t i) { import_group(i); });
    source_.finish();
    into_.end(tensor_, shape_);
  }

 private:
  using Group = TileGroups::Group;

  /// Whether a group of one tile lies in memory as the tile does.
  bool tile_as_it_is(const Group& group) const {
    return group.is_one_tile() && (!array_.column_major || shape_.rank() < 2);
  }

  /// What one thread holds while it works on a group, besides the tile that it makes.
  std::int64_t group_bytes() const {
    const std::int64_t elements = groups_->most_elements();
    if (is_same(array_.element, dtype_) && tile_as_it_is((*groups_)[0])) return 0;
    return elements * bytes_each();
  }
  std::int64_t bytes_each() const {
    const bool one_step = is_same(array_.element, dtype_);
    return size_of(array_.element) + (one_step ? 0 : static_cast<std::int64_t>(size_of(dtype_)));
  }

  void plan(const FormatOptions& options) {
    const Shape tile = array_.column_major ? reversed(tile_) : tile_;
    Shape positive = tile;
    for (std::int64_t& extent : positive) extent = std::max<std::int64_t>(1, extent);
    const bool slabs = source_.access() == ArraySource::Access::in_order;
    const bool straight = is_same(array_.element, dtype_) && !array_.column_major;
    const std::int64_t one_tile = positive.elements() * static_cast<std::int64_t>(size_of(dtype_));
    threads_ = thread_count(options.threads);
    // Fewer threads if their tiles would not fit; then the groups fill what is left.
    const auto fitting = [&](std::int64_t bytes) {
      return static_cast<int>(
          std::clamp<std::int64_t>(options.memory / std::max<std::int64_t>(1, bytes), 1, threads_));
    };
    threads_ = fitting(one_tile + (straight ? 0 : positive.elements() * bytes_each()));
    const std::int64_t left = std::max<std::int64_t>(0, options.memory / threads_ - one_tile);
    const std::int64_t size = size_of(array_.element);
    groups_.emplace(array_.shape, positive,
                    TileGroups::Sizes{size, straight ? long_run : longer_run,
                                      left / bytes_each() * size, slabs});
    threads_ = fitting(one_tile + group_bytes());
  }

  void import_group(std::int64_t i) {
    std::unique_lock lock(one_reader_, std::defer_lock);
    if (source_.access() != ArraySource::Access::anywhere) lock.lock();
    if (source_.access() == ArraySource::Access::in_order) i = next_++;
    const Group group = (*groups_)[i];
    const Box box = groups_->box_of(group);
    if (!groups_->are_slabs() && groups_->begins_slab(i))
      source_.start_reading(groups_->slab_of(group));
    const std::int64_t elements = box.shape().elements();
    if (tile_as_it_is(group) && is_same(array_.element, dtype_)) {
      MutableTile tile = MutableTile::uninitialized(dtype_, box.shape());
      source_.read(box, tile.bytes_begin());
      if (lock) lock.unlock();
      return add(group.first, std::move(tile).publish());
    }
    const auto raw = allocate_buffer(static_cast<std::size_t>(elements * size_of(array_.element)));
    source_.read(box, raw.get());
    if (lock) lock.unlock();
    if (tile_as_it_is(group)) {
      MutableTile tile = MutableTile::uninitialized(dtype_, box.shape());
      convert(array_.element, raw.get(), elements, dtype_, tile.bytes_begin(), source_.what());
      return add(group.first, std::move(tile).publish());
    }
    cut(group, box, converted(raw, elements));
  }

  std::shared_ptr<std::byte> converted(const std::shared_ptr<std::byte>& raw,
                                       std::int64_t elements) const {
    if (is_same(array_.element, dtype_)) return raw;
    auto result = allocate_buffer(static_cast<std::size_t>(elements) * size_of(dtype_));
    convert(array_.element, raw.get(), elements, dtype_, result.get(), source_.what());
    return result;
  }

  void cut(const Group& group, const Box& box, const std::shared_ptr<std::byte>& elements) {
    const Tile all = Tile::wrap(dtype_, box.shape(), elements.get(), elements);
    Key key = group.first;
    do {
      const Box part = groups_->box_of(key).seen_from(box.begin);
      Tile view = all.slice(part.begin, part.end);
      if (array_.column_major) view = view.transpose();
      MutableTile tile = MutableTile::uninitialized(dtype_, view.shape());
      copy_to_row_major(view, dtype_, tile.bytes_begin());
      add(key, std::move(tile).publish());
    } while (group.step(key));
  }

  void add(const Key& stored_key, const Tile& tile) {
    const Key key = array_.column_major ? reversed(stored_key) : stored_key;
    into_.add(tensor_, key, tile);
    progress_.add(tile.elements());
  }

  ArraySource& source_;
  const StoredArray& array_;
  const DType dtype_;
  const Shape shape_;
  Shape tile_;
  const std::string suffix_;
  Receiver& into_;
  TensorProgress<Receiver> progress_;
  int tensor_ = 0;
  int threads_ = 1;
  std::optional<TileGroups> groups_;
  std::mutex one_reader_;
  std::int64_t next_ = 0;
};

/// The elements of an array that can only be read in order, where they can be read anywhere.
FileArray copy_of(SequentialArray& source, Receiver& into) {
  File file = File::temporary(std::filesystem::temp_directory_path());
  const std::int64_t all = source.array().bytes();
  constexpr std::int64_t step = 4 << 20;
  const auto buffer = allocate_buffer(step);
  for (std::int64_t done = 0; done < all; done += step) {
    const std::span<std::byte> piece(buffer.get(),
                                     static_cast<std::size_t>(std::min(step, all - done)));
    source.read_bytes(done, piece);
    file.write(done, piece);
    into.advance(0, 0);
  }
  source.finish();
  return {std::move(file), 0, source.array(), source.what()};
}

}  // namespace

void import_array(ArraySource& source, const FormatOptions& options, const std::string& suffix,
                  Receiver& into) {
  Cutter cutter(source, options, suffix, into);
  if (!cutter.needs_copy(options)) return cutter.run();
  auto* in_order = dynamic_cast<SequentialArray*>(&source);
  TESSERA_INVARIANT(in_order != nullptr, "{} is read in order", source.what());
  FileArray copy = copy_of(*in_order, into);
  Cutter(copy, options, suffix, into).run();
}

}  // namespace tessera::store
