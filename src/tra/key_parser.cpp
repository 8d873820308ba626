#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "tra/key_expression.h"
#include "tra/key_lexer.h"

// The grammar, loosest first; a level's operands are of the next level:
//
//   function     =  [ "<" [ name { "," name } ] ">" "->" ]  "<" [ sum { "," sum } ] ">"
//   disjunction  =  conjunction { ("or" | "||") conjunction }
//   conjunction  =  negation { ("and" | "&&") negation }
//   negation     =  { "not" | "!" } comparison
//   comparison   =  sum [ ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") sum ]
//   sum          =  product { ("+" | "-") product }
//   product      =  sign { ("*" | "div" | "/" | "mod" | "%") sign }
//   sign         =  { "-" } atom
//   atom         =  integer | component | "true" | "false" | "(" disjunction ")"
//
// Whether a parenthesis holds a number or a condition is known only at its end, so one set of
// functions reads both, and each operator checks the kind of its operands.

namespace tessera {
namespace {

/// Parentheses and signs are read by recursion, so their number is limited.
constexpr int maximum_nesting = 1'000;

constexpr std::string_view reserved[] = {"div", "mod", "and", "or", "not", "true", "false"};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  KeyExpr whole_expression() {
    const KeyToken start = lexer_.token();
    KeyExpr result = number(start, sum());
    lexer_.expect_end();
    return result;
  }
  KeyPredicate whole_predicate() {
    const KeyToken start = lexer_.token();
    KeyPredicate result = condition(start, disjunction());
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
    if (lexer_.token().kind != KeyToken::end) lexer_.fail("expected the end");
    return KeyFunction(std::move(components));
  }

 private:
  using Value = std::variant<KeyExpr, KeyPredicate>;

  Value disjunction() {
    const KeyToken start = lexer_.token();
    Value left = conjunction();
    while (lexer_.at("or") || lexer_.at("||")) {
      lexer_.advance();
      const KeyToken right = lexer_.token();
      const KeyPredicate a = condition(start, left);
      left = a || condition(right, conjunction());
    }
    return left;
  }

  Value conjunction() {
    const KeyToken start = lexer_.token();
    Value left = negation();
    while (lexer_.at("and") || lexer_.at("&&")) {
      lexer_.advance();
      const KeyToken right = lexer_.token();
      const KeyPredicate a = condition(start, left);
      left = a && condition(right, negation());
    }
    return left;
  }

  Value negation() {
    if (!lexer_.at("not") && !lexer_.at("!")) return comparison();
    const Nested nested(*this);
    lexer_.advance();
    const KeyToken operand = lexer_.token();
    return !condition(operand, negation());
  }

  Value comparison() {
    static const std::map<std::string_view, Comparison> operators = {
        {"=", Comparison::equal},      {"==", Comparison::equal},
        {"!=", Comparison::not_equal}, {"<>", Comparison::not_equal},
        {"<", Comparison::less},       {"<=", Comparison::less_equal},
        {">", Comparison::greater},    {">=", Comparison::greater_equal}};
    const KeyToken start = lexer_.token();
    const Value left = sum();
    const auto found = operators.find(lexer_.token().text);
    if (found == operators.end()) return left;
    lexer_.advance();
    const KeyToken operand = lexer_.token();
    const KeyExpr a = number(start, left);
    const KeyPredicate result = make_relation(found->second, a, number(operand, sum()));
    if (operators.contains(lexer_.token().text))
      lexer_.fail("comparisons do not chain: expected 'and' before another one", lexer_.token());
    return result;
  }

  Value sum() {
    const KeyToken start = lexer_.token();
    Value left = product();
    while (lexer_.at("+") || lexer_.at("-")) {
      const Arithmetic op = lexer_.at("+") ? Arithmetic::add : Arithmetic::subtract;
      lexer_.advance();
      const KeyToken operand = lexer_.token();
      const KeyExpr a = number(start, left);
      left = make_operation(op, a, number(operand, product()));
    }
    return left;
  }

  Value product() {
    const KeyToken start = lexer_.token();
    Value left = sign();
    for (;;) {
      Arithmetic op;
      if (lexer_.take("*")) {
        op = Arithmetic::multiply;
      } else if (lexer_.take("div") || lexer_.take("/")) {
        op = Arithmetic::divide;
      } else if (lexer_.take("mod") || lexer_.take("%")) {
        op = Arithmetic::modulo;
      } else {
        return left;
      }
      const KeyToken operand = lexer_.token();
      const KeyExpr a = number(start, left);
      left = make_operation(op, a, number(operand, sign()));
    }
  }

  Value sign() {
    if (!lexer_.take("-")) return atom();
    if (lexer_.token().kind == KeyToken::integer) return integer("-");
    const Nested nested(*this);
    const KeyToken operand = lexer_.token();
    return KeyExpr(0) - number(operand, sign());
  }

  Value atom() {
    if (lexer_.token().kind == KeyToken::integer) return integer("");
    if (lexer_.take("(")) {
      const Nested nested(*this);
      Value inner = disjunction();
      lexer_.expect(")");
      return inner;
    }
    if (lexer_.take("true")) return make_truth(true);
    if (lexer_.take("false")) return make_truth(false);
    if (lexer_.token().kind == KeyToken::name && !is_reserved(lexer_.token().text))
      return component();
    lexer_.fail("expected a number, a component of the key or '('");
  }

  KeyExpr integer(const std::string& minus) {
    const KeyToken token = lexer_.token();
    const std::string digits = minus + std::string(token.text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      lexer_.fail(fmt::format("expected an integer of 64 bits, but {} is too large", digits),
                  token);
    if (end != digits.data() + digits.size())
      lexer_.fail(fmt::format("expected an integer, but '{}' is none", token.text), token);
    lexer_.advance();
    return value;
  }

  KeyExpr component() {
    const KeyToken token = lexer_.token();
    const auto found = std::find(names_.begin(), names_.end(), token.text);
    if (found == names_.end()) {
      lexer_.fail(fmt::format("expected a component of the key ({}), not '{}'",
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
    while (lexer_.token().kind != KeyToken::end && !lexer_.at("->")) lexer_.advance();
    return lexer_.at("->");
  }

  void declare_names() {
    names_.clear();
    declared_ = true;
    if (lexer_.take("<>")) return;
    lexer_.expect("<");
    if (lexer_.take(">")) return;
    do {
      const KeyToken token = lexer_.token();
      if (token.kind != KeyToken::name || is_reserved(token.text))
        lexer_.fail("expected a name for a component of the key");
      if (std::find(names_.begin(), names_.end(), token.text) != names_.end())
        lexer_.fail(fmt::format("expected another name: '{}' is declared already", token.text),
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
      const KeyToken token = lexer_.token();
      if (components.size() == Key::capacity)
        lexer_.fail(fmt::format("expected '>': a key has at most {} components", Key::capacity),
                    token);
      components.push_back(number(token, sum()));
    } while (lexer_.take(","));
    if (!lexer_.at(">")) lexer_.fail("expected an operator, ',' or '>'");
    lexer_.advance();
    return components;
  }

  KeyExpr number(const KeyToken& start, const Value& value) const {
    const auto* expr = std::get_if<KeyExpr>(&value);
    if (expr == nullptr) lexer_.fail("expected a number, but here a condition begins", start);
    return *expr;
  }
  KeyPredicate condition(const KeyToken& start, const Value& value) const {
    const auto* predicate = std::get_if<KeyPredicate>(&value);
    if (predicate == nullptr)
      lexer_.fail("expected a condition such as k0 = k1, but here a number begins", start);
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
