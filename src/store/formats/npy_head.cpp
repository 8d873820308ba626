#include <charconv>

#include "base/check.h"
#include "store/formats/npy.h"

namespace tessera::store {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::int64_t longest_head = 1 << 20;

/// The dictionary of a head, as Python writes it: {'descr': '<f8', 'fortran_order': False,
/// 'shape': (3, 4), }
class HeadParser {
 public:
  HeadParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  StoredArray parse() {
    StoredArray array;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[')
          fail("structured dtypes are not supported; save each field as an array of its own");
        array.element = parse_element_or_fail(quoted());
        descr = true;
      } else if (key == "fortran_order") {
        array.column_major = truth();
        order = true;
      } else if (key == "shape") {
        array.shape = extents();
        shape = true;
      } else {
        fail(fmt::format("its header has the unknown entry '{}'", key));
      }
      if (!accept(',') && peek() != '}') fail_here();
    }
    skip_space();
    if (at_ != text_.size()) fail_here();
    if (!descr || !order || !shape) fail("its header must have descr, fortran_order and shape");
    if (array.column_major) array.shape = reversed(array.shape);
    return array;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw IoError(fmt::format("{} cannot be read: {}", what_, reason));
  }
  [[noreturn]] void fail_here() const {
    fail(fmt::format("its header is not a valid dictionary, at character {}", at_ + 1));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail_here();
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_here();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail_here();
    const std::string inside(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return inside;
  }
  bool truth() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail_here();
    return false;
  }
  Shape extents() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      std::int64_t extent = 0;
      (void)peek();
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error == std::errc::result_out_of_range)
        fail("a dimension in its header is larger than 2^63");
      if (error != std::errc()) fail_here();
      if (extent < 0) fail(fmt::format("a dimension in its header is negative: {}", extent));
      at_ = static_cast<std::size_t>(end - text_.data());
      (void)accept('L');  // Python 2
      if (shape.rank() == max_rank) fail(fmt::format("it has more than {} dimensions", max_rank));
      shape.push_back(extent);
      if (!accept(',') && peek() != ')') fail_here();
    }
    return shape;
  }
  Element parse_element_or_fail(const std::string& descr) const {
    try {
      return parse_element(descr);
    } catch (const TypeError& error) {
      fail(error.what());
    }
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHead read_npy_head(const std::function<std::size_t(std::span<std::byte>)>& read,
                      const std::string& what) {
  const auto taken = [&](std::size_t count) {
    std::string bytes(count, '\0');
    const std::size_t there = read(std::as_writable_bytes(std::span(bytes)));
    TESSERA_REQUIRE(IoError, there == count, "{} cannot be read: the file ends in its header",
                    what);
    return bytes;
  };
  const std::string start = taken(8);
  TESSERA_REQUIRE(IoError, std::string_view(start).starts_with(magic),
                  "{} cannot be read: it is not an npy file (it does not begin with \\x93NUMPY)",
                  what);
  const int version = static_cast<unsigned char>(start[6]);
  TESSERA_REQUIRE(
      IoError, version >= 1 && version <= 3,
      "{} cannot be read: it has version {} of the npy format; versions 1 to 3 can be read", what,
      version);
  const std::string digits = taken(version == 1 ? 2 : 4);
  std::int64_t length = 0;
  for (std::size_t i = digits.size(); i-- > 0;)
    length = 256 * length + static_cast<unsigned char>(digits[i]);
  TESSERA_REQUIRE(IoError, length <= longest_head,
                  "{} cannot be read: its header is too long ({} bytes)", what, length);
  const std::string text = taken(static_cast<std::size_t>(length));
  NpyHead head{HeadParser(text, what).parse(),
               static_cast<std::int64_t>(start.size() + digits.size()) + length};
  head.array.check(what);
  return head;
}

std::string npy_head(const StoredArray& array) {
  constexpr std::size_t alignment = 64;
  const Shape shape = array.column_major ? reversed(array.shape) : array.shape;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                                 to_string(array.element), array.column_major ? "True" : "False",
                                 fmt::join(shape, ", "), shape.rank() == 1 ? "," : "");
  const std::size_t before = magic.size() + 2 + 2;
  text.append(alignment - (before + text.size() + 1) % alignment, ' ');
  text += '\n';
  std::string head(magic);
  head += '\x01';
  head += '\x00';
  head += static_cast<char>(text.size() % 256);
  head += static_cast<char>(text.size() / 256);
  return head + text;
}

}  // namespace tessera::store
