#include "store/formats/array_source.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::store {

void StoredArray::check(const std::string& what) const {
  std::int64_t bytes = size_of(element);
  bool overflow = false;
  for (const std::int64_t extent : shape) {
    TESSERA_REQUIRE(IoError, extent >= 0, "{}: negative dimension {}", what, extent);
    overflow = overflow ||
               __builtin_mul_overflow(bytes, std::max<std::int64_t>(1, extent), &bytes) ||
               bytes > (std::int64_t{1} << 60);
  }
  TESSERA_REQUIRE(IoError, !overflow, "{}: an array of shape {} is too large", what,
                  to_string(column_major ? reversed(shape) : shape));
}

ArraySource::ArraySource(StoredArray array, std::string what, Access access)
    : array_(std::move(array)), what_(std::move(what)), access_(access) {
  array_.check(what_);
}

void SequentialArray::read(const Box& box, std::byte* into) {
  const std::int64_t size = size_of(array().element);
  for_each_run(
      array().shape, box, [&](std::int64_t offset, std::int64_t position, std::int64_t count) {
        read_bytes(offset * size, {into + position * size, static_cast<std::size_t>(count * size)});
      });
}

FileArray::FileArray(File file, std::int64_t head, StoredArray stored, const std::string& what)
    : SequentialArray(std::move(stored), what, Access::anywhere),
      file_(std::move(file)),
      head_(head) {
  const std::int64_t there = file_.size() - head_;
  TESSERA_REQUIRE(
      IoError, there == array().bytes(), "{} has {} bytes of data, but {} of {} are {} bytes: {}",
      what, there, to_string(array().shape), to_string(array().element), array().bytes(),
      there < array().bytes() ? "the file is truncated, or shape or dtype is wrong"
                              : "the file has more than one array, or shape or dtype is wrong");
}

void FileArray::read_bytes(std::int64_t offset, std::span<std::byte> into) {
  file_.read(head_ + offset, into);
}

void FileArray::start_reading(const Box& box) {
  const std::int64_t size = size_of(array().element);
  for_each_run(array().shape, box, [&](std::int64_t offset, std::int64_t, std::int64_t count) {
    file_.start_reading(head_ + offset * size, count * size);
  });
}

}  // namespace tessera::store
