#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "key/binding.h"
#include "key/expression.h"
#include "key/lexer.h"

// The grammar:
//
//   function  =  [ "<" [ name { "," name } ] ">" "->" ]  "<" [ operand { "," operand } ] ">"
//   operand   =  prefix { operator prefix }, by the binding of the operators
//   prefix    =  "-" prefix  |  ("not" | "!") operand  |  "(" operand ")"
//             |  integer  |  component  |  "true"  |  "false"
//
// with the operators, loosest first: or, and, not, comparisons (which do not chain), + -, * div mod
// and the sign; those of one line group to the left.
//
// Whether a parenthesis holds a number or a condition is known only at its end, so the same
// functions read both, and each operator checks the kind of its operands.

namespace tessera {
namespace {

/// Parentheses, signs and negations are read by recursion, so their number is limited.
constexpr int maximum_nesting = 250;

constexpr std::string_view reserved[] = {"div", "mod", "and", "or", "not", "true", "false"};

enum class Connective { conjunction, disjunction };

struct KeyOperator {
  std::string_view text;
  KeyBinding binding;
  std::variant<Arithmetic, Comparison, Connective> meaning;
};

constexpr KeyOperator operators[] = {
    {"or", KeyBinding::disjunction, Connective::disjunction},
    {"||", KeyBinding::disjunction, Connective::disjunction},
    {"and", KeyBinding::conjunction, Connective::conjunction},
    {"&&", KeyBinding::conjunction, Connective::conjunction},
    {"=", KeyBinding::comparison, Comparison::equal},
    {"==", KeyBinding::comparison, Comparison::equal},
    {"!=", KeyBinding::comparison, Comparison::not_equal},
    {"<>", KeyBinding::comparison, Comparison::not_equal},
    {"<", KeyBinding::comparison, Comparison::less},
    {"<=", KeyBinding::comparison, Comparison::less_equal},
    {">", KeyBinding::comparison, Comparison::greater},
    {">=", KeyBinding::comparison, Comparison::greater_equal},
    {"+", KeyBinding::sum, Arithmetic::add},
    {"-", KeyBinding::sum, Arithmetic::subtract},
    {"*", KeyBinding::product, Arithmetic::multiply},
    {"div", KeyBinding::product, Arithmetic::divide},
    {"/", KeyBinding::product, Arithmetic::divide},
    {"mod", KeyBinding::product, Arithmetic::modulo},
    {"%", KeyBinding::product, Arithmetic::modulo},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  KeyExpr whole_expression() {
    const Lexeme start = lexer_.token();
    KeyExpr result = number(start, operand(KeyBinding::sum));
    lexer_.expect_end();
    return result;
  }
  KeyPredicate whole_predicate() {
    const Lexeme start = lexer_.token();
    KeyPredicate result = condition(start, operand(KeyBinding::disjunction));
    lexer_.expect_end();
    return result;
  }
  KeyFunction whole_function() {
    const KeyLexer start = lexer_;
    if (declares_names()) {
      lexer_ = start;
      declare_names();
      lexer_.expect("->");
    } else {
      lexer_ = start;
    }
    std::vector<KeyExpr> components = tuple();
    if (lexer_.token().kind != Lexeme::Kind::end) lexer_.fail("expected the end");
    return KeyFunction(std::move(components));
  }

 private:
  using Value = std::variant<KeyExpr, KeyPredicate>;

  /// An operand whose operators all bind at least so tightly.
  Value operand(KeyBinding loosest) {
    const Lexeme start = lexer_.token();
    Value left = prefix();
    for (const KeyOperator* op = next_operator(loosest); op != nullptr;
         op = next_operator(loosest)) {
      lexer_.advance();
      left = combined(*op, start, left);
      const KeyOperator* next = next_operator(KeyBinding::comparison);
      if (op->binding == KeyBinding::comparison && next != nullptr && next->binding == op->binding)
        lexer_.fail("comparisons cannot be chained: expected 'and' before another comparison",
                    lexer_.token());
    }
    return left;
  }

  const KeyOperator* next_operator(KeyBinding loosest) const {
    const KeyOperator* found =
        std::find_if(std::begin(operators), std::end(operators),
                     [&](const KeyOperator& op) { return lexer_.at(op.text); });
    return found != std::end(operators) && found->binding >= loosest ? found : nullptr;
  }

  /// Reads the right operand and applies the operator.
  Value combined(const KeyOperator& op, const Lexeme& start, const Value& left) {
    const Lexeme middle = lexer_.token();
    if (const auto* connective = std::get_if<Connective>(&op.meaning)) {
      const KeyPredicate a = condition(start, left);
      const KeyPredicate b = condition(middle, operand(tighter(op.binding)));
      return *connective == Connective::conjunction ? a && b : a || b;
    }
    const KeyExpr a = number(start, left);
    const KeyExpr b = number(middle, operand(tighter(op.binding)));
    if (const auto* comparison = std::get_if<Comparison>(&op.meaning))
      return make_relation(*comparison, a, b);
    return make_operation(std::get<Arithmetic>(op.meaning), a, b);
  }

  Value prefix() {
    if (lexer_.token().kind == Lexeme::Kind::number) return integer("");
    if (lexer_.take("-")) {
      if (lexer_.token().kind == Lexeme::Kind::number) return integer("-");
      const Nested nested(*this);
      const Lexeme start = lexer_.token();
      return KeyExpr(0) - number(start, prefix());
    }
    if (lexer_.take("not") || lexer_.take("!")) {
      const Nested nested(*this);
      const Lexeme start = lexer_.token();
      return !condition(start, operand(KeyBinding::comparison));
    }
    if (lexer_.take("(")) {
      const Nested nested(*this);
      Value inner = operand(KeyBinding::disjunction);
      lexer_.expect(")");
      return inner;
    }
    if (lexer_.take("true")) return make_truth(true);
    if (lexer_.take("false")) return make_truth(false);
    if (lexer_.token().kind == Lexeme::Kind::word && !is_reserved(lexer_.token().text))
      return component();
    lexer_.fail("expected a number, a key component or '('");
  }

  KeyExpr integer(const std::string& minus) {
    const Lexeme token = lexer_.token();
    const std::string digits = minus + std::string(token.text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      lexer_.fail(fmt::format("expected a 64-bit integer, but {} is too large", digits), token);
    if (end != digits.data() + digits.size())
      lexer_.fail(fmt::format("expected an integer, not '{}'", token.text), token);
    lexer_.advance();
    return value;
  }

  KeyExpr component() {
    const Lexeme token = lexer_.token();
    const auto found = std::find(names_.begin(), names_.end(), token.text);
    if (found == names_.end()) {
      lexer_.fail(fmt::format("expected a key component ({}), not '{}'",
                              declared_ ? fmt::format("{}", fmt::join(names_, ", "))
                                        : fmt::format("k0 to k{}", Key::capacity - 1),
                              token.text),
                  token);
    }
    lexer_.advance();
    return key(static_cast<int>(found - names_.begin()));
  }

  /// Whether the text has the form "<...> -> ...": only then does its first tuple declare names.
  bool declares_names() {
    while (lexer_.token().kind != Lexeme::Kind::end && !lexer_.at("->")) lexer_.advance();
    return lexer_.at("->");
  }

  void declare_names() {
    names_.clear();
    declared_ = true;
    if (lexer_.take("<>")) return;
    lexer_.expect("<");
    if (lexer_.take(">")) return;
    do {
      const Lexeme token = lexer_.token();
      if (token.kind != Lexeme::Kind::word || is_reserved(token.text))
        lexer_.fail("expected a name for a key component");
      if (std::find(names_.begin(), names_.end(), token.text) != names_.end())
        lexer_.fail(fmt::format("expected a new name: '{}' is already declared", token.text),
                    token);
      if (names_.size() == Key::capacity)
        lexer_.fail(fmt::format("expected '>': a key has at most {} components", Key::capacity),
                    token);
      names_.emplace_back(token.text);
      lexer_.advance();
    } while (lexer_.take(","));
    lexer_.expect(">");
  }

  std::vector<KeyExpr> tuple() {
    if (lexer_.take("<>")) return {};
    lexer_.expect("<");
    std::vector<KeyExpr> components;
    if (lexer_.take(">")) return components;
    do {
      const Lexeme token = lexer_.token();
      if (components.size() == Key::capacity)
        lexer_.fail(fmt::format("expected '>': a key has at most {} components", Key::capacity),
                    token);
      components.push_back(number(token, operand(KeyBinding::sum)));
    } while (lexer_.take(","));
    if (!lexer_.at(">")) lexer_.fail("expected an operator, ',' or '>'");
    lexer_.advance();
    return components;
  }

  KeyExpr number(const Lexeme& start, const Value& value) const {
    const auto* expr = std::get_if<KeyExpr>(&value);
    if (expr == nullptr) lexer_.fail("expected a number, not a condition", start);
    return *expr;
  }
  KeyPredicate condition(const Lexeme& start, const Value& value) const {
    const auto* predicate = std::get_if<KeyPredicate>(&value);
    if (predicate == nullptr)
      lexer_.fail("expected a condition such as k0 = k1, not a number", start);
    return *predicate;
  }
  static bool is_reserved(std::string_view word) {
    return std::find(std::begin(reserved), std::end(reserved), word) != std::end(reserved);
  }

  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > maximum_nesting)
        parser_.lexer_.fail(
            fmt::format("expected at most {} nested parentheses and signs", maximum_nesting),
            parser_.lexer_.token());
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  static std::vector<std::string> standard_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < Key::capacity; ++i) names.push_back(fmt::format("k{}", i));
    return names;
  }

  KeyLexer lexer_;
  std::vector<std::string> names_ = standard_names();
  bool declared_ = false;
  int nesting_ = 0;
};

}  // namespace

KeyExpr KeyExpr::parse(std::string_view text) { return Parser(text).whole_expression(); }

KeyPredicate KeyPredicate::parse(std::string_view text) { return Parser(text).whole_predicate(); }

KeyFunction KeyFunction::parse(std::string_view text) { return Parser(text).whole_function(); }

}  // namespace tessera
