#include <array>

#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql::grammar {
namespace {

struct ScalarName {
  std::string_view word;
  Type::Kind kind;
};
constexpr ScalarName scalars[] = {
    {"INT", Type::Kind::integer},     {"INTEGER", Type::Kind::integer},
    {"BIGINT", Type::Kind::bigint},   {"FLOAT", Type::Kind::real},
    {"REAL", Type::Kind::real},       {"DOUBLE", Type::Kind::double_precision},
    {"BOOLEAN", Type::Kind::boolean}, {"BOOL", Type::Kind::boolean},
    {"TEXT", Type::Kind::text},       {"VARCHAR", Type::Kind::text},
};
/// What other dialects call them.
constexpr std::pair<std::string_view, std::string_view> elsewhere[] = {
    {"STRING", "TEXT"},    {"CHAR", "TEXT"},    {"NUMERIC", "DOUBLE"}, {"DECIMAL", "DOUBLE"},
    {"SMALLINT", "INT"},   {"TINYINT", "INT"},  {"LONG", "BIGINT"},    {"FLOAT32", "FLOAT"},
    {"FLOAT64", "DOUBLE"}, {"INT64", "BIGINT"}, {"INT32", "INT"},      {"ARRAY", "TENSOR"},
};

[[noreturn]] void fail_unknown(const Token& token) {
  constexpr std::array<std::string_view, 11> known = {"INT",    "INTEGER", "BIGINT",  "FLOAT",
                                                      "REAL",   "DOUBLE",  "BOOLEAN", "TEXT",
                                                      "VECTOR", "MATRIX",  "TENSOR"};
  std::string_view meant = nearest(token.text, known);
  for (const auto& [other, ours] : elsewhere)
    if (same_word(token.text, other)) meant = ours;
  fail_parse(token.location, "type \"{}\" does not exist{}", readable(token.text),
             meant.empty()
                 ? std::string("; available types: INT, BIGINT, FLOAT, DOUBLE, BOOLEAN, TEXT, "
                               "VECTOR[n], MATRIX[n][m] and TENSOR[n][m]...")
                 : fmt::format("; did you mean {}?", meant));
}

std::optional<Type::Kind> scalar(Cursor& cursor) {
  for (const ScalarName& name : scalars) {
    if (!cursor.take_word(name.word)) continue;
    if (name.word == "DOUBLE") cursor.take_word("PRECISION");
    if (name.word == "VARCHAR" && cursor.take_symbol("(")) {  // a text has no greatest length
      cursor.expect_integer("a length, as in VARCHAR(20)");
      cursor.expect_symbol(")", "')' after the length");
    }
    return name.kind;
  }
  return {};
}

Type tensor(Cursor& cursor, std::string_view word, int rank) {
  const Location location = cursor.location();
  Type found{Type::Kind::tensor};
  if (rank != 0 || !cursor.at_symbol("[") || cursor.next().text != "]") {
    found.shape = sizes(cursor, word);
  } else {  // TENSOR[], of rank 0
    cursor.advance();
    cursor.advance();
  }
  if (rank != 0 && found.shape.rank() != rank)
    fail_parse(location, "a {} has {}, not {}; write {}", word,
               rank == 1 ? "one size" : "two sizes", found.shape.rank(),
               found.shape.rank() == 1   ? "VECTOR[n]"
               : found.shape.rank() == 2 ? "MATRIX[n][m]"
                                         : "TENSOR[n][m][k]");
  if (cursor.take_word("OF")) found.element = element_type(cursor);
  return found;
}

}  // namespace

Shape sizes(Cursor& cursor, std::string_view of_what) {
  const bool brackets = cursor.at_symbol("[");
  if (!brackets && !cursor.at_symbol("("))
    cursor.fail_expected(fmt::format("the sizes of {}, as in [100][200]", of_what));
  cursor.advance();
  Shape shape;
  do {
    const Location location = cursor.location();
    const std::int64_t size = cursor.expect_integer("an integer size");
    if (size == 0) fail_parse(location, "a size must be at least 1");
    if (shape.rank() == max_rank)
      fail_parse(location, "a tensor cannot have more than {} dimensions", max_rank);
    shape.push_back(size);
    if (brackets) cursor.expect_symbol("]", "']' after the size");
  } while (brackets ? cursor.take_symbol("[") : cursor.take_comma());
  if (!brackets) cursor.expect_symbol(")", "',' or ')' after a size");
  return shape;
}

DType element_type(Cursor& cursor) {
  const Token token = cursor.token();
  const auto kind = scalar(cursor);
  if (kind) switch (*kind) {
      case Type::Kind::real: return DType::f32;
      case Type::Kind::double_precision: return DType::f64;
      case Type::Kind::integer:
      case Type::Kind::bigint: return DType::i64;
      case Type::Kind::boolean: return DType::boolean;
      case Type::Kind::text:
      case Type::Kind::tensor: break;
    }
  fail_parse(token.location,
             "syntax error at or near \"{}\": expected FLOAT, DOUBLE, BIGINT or BOOLEAN after OF",
             readable(token.text));
}

std::vector<std::string_view> type_words() {
  std::vector<std::string_view> words{"VECTOR", "MATRIX", "TENSOR"};
  for (const ScalarName& name : scalars) words.push_back(name.word);
  return words;
}

Type type(Cursor& cursor) {
  if (cursor.token().kind != Token::Kind::word) cursor.fail_expected("a type");
  if (const auto kind = scalar(cursor)) return Type{*kind};
  if (cursor.take_word("VECTOR")) return tensor(cursor, "VECTOR", 1);
  if (cursor.take_word("MATRIX")) return tensor(cursor, "MATRIX", 2);
  if (cursor.take_word("TENSOR")) return tensor(cursor, "TENSOR", 0);
  fail_unknown(cursor.token());
}

}  // namespace tessera::sql::grammar
