#include "kernel/call_text.h"

#include <charconv>
#include <optional>

#include "base/check.h"
#include "base/scanner.h"

namespace tessera {
namespace {

constexpr Script call_script{.quotes = "'\""};

class CallParser {
 public:
  explicit CallParser(std::string_view text) : text_(text), scanner_(text, call_script) {
    advance();
  }

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
    if (token_.kind != Lexeme::Kind::end) fail("the end");
    return call;
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    const int column = static_cast<int>(token_.offset) + 1;
    throw ParseError(fmt::format("kernel call '{}', column {}: expected {}", text_, column, wanted),
                     1, column);
  }
  void advance() { token_ = scanner_.next(); }
  void go_to(std::size_t offset) {
    scanner_.go_to(offset);
    advance();
  }
  bool at(char c) const { return token_.kind == Lexeme::Kind::symbol && token_.text.front() == c; }
  bool accept(char c) {
    const bool found = at(c);
    if (found) advance();
    return found;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  std::string word(std::string_view wanted) {
    if (token_.kind != Lexeme::Kind::word && token_.kind != Lexeme::Kind::number) fail(wanted);
    const std::string found(token_.text);
    advance();
    return found;
  }
  /// What is written from here on.
  std::string_view rest() const { return text_.substr(token_.offset); }
  /// Where a number ends that begins here; nothing if there is none.
  template <class T>
  std::optional<std::size_t> end_of_number(T& value) const {
    const std::string_view text = rest();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return static_cast<std::size_t>(end - text_.data());
  }
  ParamValue value() {
    if (token_.kind == Lexeme::Kind::quoted) return quoted();
    if (at('[')) return list();
    for (const bool truth : {true, false}) {
      const std::string_view written = truth ? "true" : "false";
      if (!rest().starts_with(written)) continue;
      go_to(token_.offset + written.size());
      return truth;
    }
    std::int64_t integer = 0;
    const auto whole = end_of_number(integer);
    if (whole && (*whole == text_.size() || (text_[*whole] != '.' && text_[*whole] != 'e'))) {
      go_to(*whole);
      return integer;
    }
    double real = 0;
    const auto end = end_of_number(real);
    if (!end) fail("a value");
    go_to(*end);
    return real;
  }
  std::string quoted() {
    if (!token_.ended) fail("a closing quote");
    std::string content(token_.text.substr(1, token_.text.size() - 2));
    advance();
    return content;
  }
  std::vector<std::int64_t> list() {
    std::vector<std::int64_t> values;
    expect('[');
    if (accept(']')) return values;
    do {
      std::int64_t integer = 0;
      const auto end = end_of_number(integer);
      if (!end) fail("an integer");
      values.push_back(integer);
      go_to(*end);
    } while (accept(','));
    expect(']');
    return values;
  }

  std::string_view text_;
  Scanner scanner_;
  Lexeme token_;
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
