#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/scanner.h"
#include "kernel/form/index_form.h"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 5> long_symbols = {"==", "!=", "<=", ">=", "//"};
constexpr Script form_script{.symbols = long_symbols};

struct Infix {
  std::string_view symbol, function;
  int binding;  // how tightly, from 1
};
constexpr std::array infixes = {
    Infix{"or", "logical_or", 1},   Infix{"and", "logical_and", 2},
    Infix{"==", "equal", 3},        Infix{"!=", "not_equal", 3},
    Infix{"<", "less", 3},          Infix{"<=", "less_equal", 3},
    Infix{">", "greater", 3},       Infix{">=", "greater_equal", 3},
    Infix{"+", "add", 4},           Infix{"-", "sub", 4},
    Infix{"*", "mul", 5},           Infix{"/", "div", 5},
    Infix{"//", "floor_divide", 5}, Infix{"%", "remainder", 5},
};
constexpr int comparison_binding = 3;
constexpr int deepest = 200;  // levels of nesting that a text may have

const Infix* infix_of_function(std::string_view name) {
  for (const Infix& infix : infixes)
    if (infix.function == name) return &infix;
  return nullptr;
}

// ----------------------------------------------------------------------------------- Printing

class Printer {
 public:
  explicit Printer(const IndexForm& form) : form_(form) {}

  std::string indices(const std::vector<int>& of) const {
    std::vector<std::string> names;
    for (int index : of) {
      const IndexForm::Index& known = form_.indices[static_cast<std::size_t>(index)];
      names.push_back(known.extent ? fmt::format("{}:{}", known.name, *known.extent)
                      : known.like ? fmt::format("{}:#{}:{}", known.name, known.like->argument,
                                                 known.like->dimension)
                                   : known.name);
    }
    return fmt::format("[{}]", fmt::join(names, ","));
  }
  /// In parentheses if it binds more loosely than asked for.
  std::string text(const Term& term, int binding = 0) const {
    return std::visit([&](const auto& node) { return part(node, binding); }, term->node);
  }

 private:
  std::string part(const term::Number& node, int) const {
    const DType dtype = node.value.dtype();
    if (dtype == DType::boolean) return node.value.as<bool>() ? "true" : "false";
    if (dtype == DType::i64) return fmt::format("{}", node.value.as<std::int64_t>());
    const double value = node.value.as<double>();
    std::string digits = std::isnan(value)   ? "nan"
                         : std::isinf(value) ? (value < 0 ? "-inf" : "inf")
                                             : fmt::format("{}", value);
    if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
    return dtype == DType::f32 ? fmt::format("f32({})", digits) : digits;
  }
  std::string part(const term::Position& node, int) const {
    return form_.indices[static_cast<std::size_t>(node.index)].name;
  }
  std::string part(const term::Element& node, int) const {
    std::vector<std::string> at;
    for (const Term& where : node.at) at.push_back(text(where));
    return fmt::format("#{}[{}]", node.argument, fmt::join(at, ","));
  }
  std::string part(const term::Applied& node, int binding) const {
    const Infix* infix = infix_of_function(node.function->name);
    if (infix == nullptr) {
      std::vector<std::string> arguments;
      for (const Term& argument : node.arguments) arguments.push_back(text(argument));
      return fmt::format("{}({})", node.function->name, fmt::join(arguments, ", "));
    }
    const int left = infix->binding + (infix->binding == comparison_binding ? 1 : 0);
    const std::string written =
        fmt::format("{} {} {}", text(node.arguments[0], left), infix->symbol,
                    text(node.arguments[1], infix->binding + 1));
    return infix->binding < binding ? fmt::format("({})", written) : written;
  }
  std::string part(const term::Cast& node, int) const {
    return fmt::format("{}({})", to_string(node.dtype), text(node.value));
  }
  std::string part(const term::Choice& node, int) const {
    return fmt::format("where({}, {}, {})", text(node.condition), text(node.yes), text(node.no));
  }
  std::string part(const term::Fold& node, int) const {
    return fmt::format("{}({} {}{})", to_string(node.monoid), indices(node.indices),
                       text(node.value),
                       node.condition == nullptr ? "" : " | " + text(node.condition));
  }

  const IndexForm& form_;
};

// ------------------------------------------------------------------------------------ Parsing

class FormParser {
 public:
  explicit FormParser(std::string_view text) : text_(text), scanner_(text, form_script) {
    advance();
  }

  IndexForm parse() {
    const std::vector<int> result = indices();
    form_.rank = static_cast<int>(result.size());
    form_.value = term(1);
    if (token_.kind != Lexeme::Kind::end) fail("an operator or the end");
    return std::move(form_);
  }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    const int column = static_cast<int>(token_.offset) + 1;
    throw ParseError(fmt::format("index form '{}', column {}: expected {}", text_, column, wanted),
                     1, column);
  }
  void advance() { token_ = scanner_.next(); }
  bool at(std::string_view text) const {
    return token_.text == text && token_.kind != Lexeme::Kind::end;
  }
  bool accept(std::string_view text) {
    const bool found = at(text);
    if (found) advance();
    return found;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("'{}'", text));
  }
  std::string word(std::string_view wanted) {
    if (token_.kind != Lexeme::Kind::word) fail(wanted);
    const std::string found(token_.text);
    advance();
    return found;
  }
  template <class T>
  std::optional<T> digits() {
    const std::string_view rest = text_.substr(token_.offset);
    T value{};
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) return std::nullopt;
    scanner_.go_to(static_cast<std::size_t>(end - text_.data()));
    advance();
    return value;
  }

  std::vector<int> indices() {
    std::vector<int> found;
    expect("[");
    if (accept("]")) return found;
    do {
      IndexForm::Index index{word("the name of an index")};
      if (accept(":")) extent_of(index);
      found.push_back(static_cast<int>(form_.indices.size()));
      names_.emplace_back(index.name, found.back());
      form_.indices.push_back(std::move(index));
    } while (accept(","));
    expect("]");
    return found;
  }

  void extent_of(IndexForm::Index& index) {
    if (!accept("#")) {
      index.extent = digits<std::int64_t>();
      if (!index.extent || *index.extent < 0) fail("the extent of an index");
      return;
    }
    const auto argument = digits<int>();
    expect(":");
    const auto dimension = digits<int>();
    if (!argument || !dimension) fail("an argument and a dimension of it, as in [i:#0:1]");
    index.like = {{*argument, *dimension}};
  }

  Term term(int loosest) {
    if (++depth_ > deepest) fail("less nesting");
    Term left = primary();
    while (true) {
      const Infix* infix = nullptr;
      for (const Infix& known : infixes)
        if (at(known.symbol)) infix = &known;
      if (infix == nullptr || infix->binding < loosest) break;
      advance();
      Term right = term(infix->binding + 1);
      left = applied(infix->function, {std::move(left), std::move(right)});
    }
    --depth_;
    return left;
  }

  Term primary() {
    if (accept("(")) {
      Term inside = term(1);
      expect(")");
      return inside;
    }
    if (accept("#")) return element_of();
    const bool minus = accept("-");
    if (token_.kind == Lexeme::Kind::number) return constant(minus);
    const std::string name = word(minus ? "a number" : "a term");
    if (name == "inf") return number(minus ? -INFINITY : INFINITY);
    if (minus) fail("a number");
    if (name == "nan") return number(NAN);
    if (name == "true" || name == "false") return number(name == "true");
    if (at("(")) return called(name);
    for (auto known = names_.rbegin(); known != names_.rend(); ++known)
      if (known->first == name) return position(known->second);
    fail(fmt::format("an index, not \"{}\"", name));
  }

  Term constant(bool minus) {
    // The least integer has digits that fit only behind the minus, so that the sign is read again.
    const std::size_t begin = token_.offset;
    const std::string_view digits_only =
        text_.substr(begin, text_.find_first_not_of("0123456789", begin) - begin);
    const std::size_t end = begin + digits_only.size();
    const bool whole = end >= text_.size() || (text_[end] != '.' && text_[end] != 'e');
    if (whole) {
      const std::string written = (minus ? "-" : "") + std::string(digits_only);
      std::int64_t value = 0;
      const auto [last, error] =
          std::from_chars(written.data(), written.data() + written.size(), value);
      if (error != std::errc() || last != written.data() + written.size())
        fail("an integer of 64 bits");
      scanner_.go_to(end);
      advance();
      return number(value);
    }
    const auto value = digits<double>();
    if (!value) fail("a number");
    return number(minus ? -*value : *value);
  }

  Term element_of() {
    const auto argument = digits<int>();
    if (!argument || *argument < 0) fail("the number of an argument");
    std::vector<Term> where;
    expect("[");
    if (!accept("]")) {
      do where.push_back(term(1));
      while (accept(","));
      expect("]");
    }
    return element(*argument, std::move(where));
  }

  Term called(const std::string& name) {
    expect("(");
    if (const auto monoid = monoid_named(name)) return folded(*monoid);
    std::vector<Term> arguments;
    do arguments.push_back(term(1));
    while (accept(","));
    expect(")");
    if (name == "where" && arguments.size() == 3)
      return choice(arguments[0], arguments[1], arguments[2]);
    for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
      if (name == to_string(dtype) && arguments.size() == 1) {
        const auto* constant = as<term::Number>(arguments[0]);
        return constant != nullptr ? number(constant->value.cast(dtype))
                                   : cast(dtype, arguments[0]);
      }
    const ScalarFunction* function = scalar_function(name);
    if (function == nullptr || !std::cmp_equal(function->arguments, arguments.size()))
      fail(fmt::format("a function of {} argument{}, not \"{}\"", arguments.size(),
                       arguments.size() == 1 ? "" : "s", name));
    return applied(name, std::move(arguments));
  }

  Term folded(Monoid monoid) {
    const std::size_t outside = names_.size();
    std::vector<int> over = indices();
    Term value = term(1);
    Term condition = accept("|") ? term(1) : nullptr;
    expect(")");
    names_.resize(outside);
    return fold(monoid, std::move(over), std::move(value), std::move(condition));
  }

  std::string_view text_;
  Scanner scanner_;
  Lexeme token_;
  IndexForm form_;
  std::vector<std::pair<std::string, int>> names_;  // the indices that can be read, innermost last
  int depth_ = 0;
};

}  // namespace

IndexForm parse_index_form(std::string_view text) { return FormParser(text).parse(); }

std::string to_string(const IndexForm& form) {
  std::vector<int> result;
  for (int index = 0; index < form.rank; ++index) result.push_back(index);
  const Printer printer(form);
  return fmt::format("{} {}", printer.indices(result), printer.text(form.value));
}

}  // namespace tessera
