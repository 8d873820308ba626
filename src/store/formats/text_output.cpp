#include "store/formats/text_output.h"

#include <charconv>
#include <utility>

#include "base/stop.h"
#include "tile/dispatch.h"

namespace tessera::store {

TextOutput::TextOutput(const OutputFile& to) : file_(open_to_write(to)), buffer_(1 << 18) {}

void TextOutput::flush() {
  refuse_if_stopped("a text was written");
  file_.write(end_, std::as_bytes(std::span(buffer_.data(), used_)));
  end_ += static_cast<std::int64_t>(used_);
  used_ = 0;
}

void TextOutput::make_room(std::size_t bytes) {
  if (buffer_.size() - used_ < bytes) flush();
}

void TextOutput::put(std::string_view text) {
  for (const char c : text) put(c);
}

void TextOutput::put_integer(std::int64_t value) {
  make_room(32);
  char* begin = buffer_.data() + used_;
  used_ += std::to_chars(begin, begin + 32, value).ptr - begin;
}

void TextOutput::put_element(const Tile& tile, std::int64_t position) {
  if (tile.dtype() == DType::boolean) {
    put(tile.is_sparse() || tile.data<bool>()[position] ? "true" : "false");
    return;
  }
  make_room(32);
  char* begin = buffer_.data() + used_;
  visit_dtype(tile.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>)
      used_ += std::to_chars(begin, begin + 32, tile.data<T>()[position]).ptr - begin;
  });
}

std::int64_t TextOutput::take_written() {
  const std::int64_t now = end_ + static_cast<std::int64_t>(used_);
  return now - std::exchange(told_, now);
}

}  // namespace tessera::store
