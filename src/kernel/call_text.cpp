#include "kernel/call_text.h"

#include <cctype>
#include <charconv>

#include "base/check.h"

namespace tessera {
namespace {

class CallParser {
 public:
  explicit CallParser(std::string_view text) : text_(text) {}

  CallText parse() {
    CallText call;
    call.name = word("the name of a kernel");
    if (accept('(') && !accept(')')) {
      do {
        const std::string parameter = word("the name of a parameter");
        expect('=');
        call.params.set(parameter, value());
      } while (accept(','));
      expect(')');
    }
    if (skip_space(); at_ < text_.size()) fail("the end");
    return call;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    const int column = static_cast<int>(at_) + 1;
    throw ParseError(fmt::format("kernel call '{}', column {}: expected {}", text_, column, wanted),
                     1, column);
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  std::string word(std::string_view wanted) {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (at_ == begin) fail(wanted);
    return std::string(text_.substr(begin, at_ - begin));
  }
  template <class T>
  bool number(T& value) {
    skip_space();
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    at_ += end - begin;
    return true;
  }
  ParamValue value() {
    skip_space();
    if (at_ >= text_.size()) fail("a value");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '[') return list();
    if (text_.substr(at_).starts_with("true")) return at_ += 4, true;
    if (text_.substr(at_).starts_with("false")) return at_ += 5, false;
    const std::size_t begin = at_;
    std::int64_t integer = 0;
    const bool is_integer = number(integer);
    if (is_integer && (at_ == text_.size() || (text_[at_] != '.' && text_[at_] != 'e')))
      return integer;
    at_ = begin;
    double real = 0;
    if (!number(real)) fail("a value");
    return real;
  }
  std::string quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  std::vector<std::int64_t> list() {
    std::vector<std::int64_t> values;
    expect('[');
    if (accept(']')) return values;
    do {
      std::int64_t integer = 0;
      if (!number(integer)) fail("an integer");
      values.push_back(integer);
    } while (accept(','));
    expect(']');
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

CallText parse_call(std::string_view text) { return CallParser(text).parse(); }

std::string print_value(const ParamValue& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const {
      std::string text = fmt::format("{}", v);
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
    std::string operator()(const std::string& v) const {
      return v.find('\'') == std::string::npos ? "'" + v + "'" : '"' + v + '"';
    }
  };
  return std::visit(Printer{}, value);
}

}  // namespace tessera
