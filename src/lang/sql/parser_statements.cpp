#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql {

std::optional<bool> on_or_off(const Expression& value) {
  if (const auto* word = std::get_if<Name>(&value.node); word != nullptr && word->table.empty())
    for (const bool on : {true, false})
      if (same_word(word->column, on ? "on" : "off")) return on;
  const auto* literal = std::get_if<Literal>(&value.node);
  if (literal == nullptr) return std::nullopt;
  if (const auto* truth = std::get_if<bool>(&literal->value)) return *truth;
  const auto* number = std::get_if<std::int64_t>(&literal->value);
  return number != nullptr && (*number == 0 || *number == 1) ? std::optional(*number == 1)
                                                             : std::nullopt;
}

}  // namespace tessera::sql

namespace tessera::sql::grammar {
namespace {

using Node = decltype(Statement::node);

ObjectKind object_kind(Cursor& cursor, std::string_view after) {
  if (cursor.take_word("TABLE")) return ObjectKind::table;
  if (cursor.take_word("TENSOR")) return ObjectKind::tensor;
  if (cursor.take_word("VIEW")) return ObjectKind::view;
  cursor.fail_expected(fmt::format("TABLE, TENSOR or VIEW after {}", after));
}

Node create(Cursor& cursor) {
  const Location location = cursor.location();
  const bool or_replace = cursor.take_word("OR");
  if (or_replace) cursor.expect_word("REPLACE", "REPLACE after CREATE OR");
  switch (object_kind(cursor, or_replace ? "CREATE OR REPLACE" : "CREATE")) {
    case ObjectKind::table: return create_table(cursor, or_replace);
    case ObjectKind::tensor: return create_tensor(cursor, or_replace);
    case ObjectKind::view: break;
  }
  if (or_replace)
    fail_parse(location, "CREATE OR REPLACE works for tables and tensors; use DROP VIEW first");
  return create_view(cursor);
}

bool if_exists(Cursor& cursor) {
  if (!cursor.at_word("IF") || cursor.next().kind != Token::Kind::word) return false;
  cursor.advance();
  cursor.expect_word("EXISTS", "EXISTS after IF");
  return true;
}

Node drop(Cursor& cursor) {
  if (cursor.take_word("JOB")) {
    const bool may_be_gone = if_exists(cursor);
    return DropJob{cursor.expect_name("the name of a job from SHOW JOBS"), may_be_gone};
  }
  Drop found{object_kind(cursor, "DROP"), {}};
  found.if_exists = if_exists(cursor);
  found.name = cursor.expect_name("the name of the object to drop");
  if (cursor.at_symbol("[") && found.kind != ObjectKind::table)
    fail_parse(cursor.location(), "only tables have versions; use DROP TABLE {}[...]",
               readable(found.name));
  found.indices = index_ranges(cursor);
  return found;
}

Node rename(Cursor& cursor) {
  Rename found{object_kind(cursor, "ALTER"), {}, {}};
  found.from = cursor.expect_name("the name of the object to alter");
  cursor.expect_word("RENAME", "RENAME TO and a new name, the only form of ALTER");
  cursor.expect_word("TO", "TO and the new name after RENAME");
  found.to = cursor.expect_name("the new name");
  return found;
}

Node insert(Cursor& cursor) {
  Insert found;
  cursor.expect_word("INTO", "INTO after INSERT");
  found.table = cursor.expect_name("a table name after INTO");
  if (cursor.at_symbol("(")) {
    Cursor ahead = cursor;
    ahead.advance();
    if (!at_query(ahead) && !ahead.at_symbol("("))
      found.columns = names_in_parentheses(cursor, "a column name or a query");
  }
  if (!cursor.at_word("VALUES") && !at_query(cursor) && !cursor.at_symbol("("))
    cursor.fail_expected("VALUES or a query");
  found.query = query(cursor);
  return found;
}

Node copy(Cursor& cursor) {
  Copy found;
  if (cursor.take_symbol("(")) {
    found.query = query(cursor);
    cursor.expect_symbol(")", "')' after the query");
  } else {
    found.table = cursor.expect_name("a table name or a query in parentheses");
  }
  if (found.query && cursor.at_word("FROM"))
    fail_parse(cursor.location(), "COPY FROM needs a table, not a query");
  found.from = cursor.take_word("FROM");
  if (!found.from) cursor.expect_word("TO", "FROM or TO and a file name");
  found.file = cursor.expect_string("a file name, such as 'x.csv'");
  if (cursor.take_word("WITH") || cursor.at_symbol("("))
    found.options = options_in_parentheses(cursor);
  return found;
}

Node describe(Cursor& cursor) {
  const bool of_kind =
      cursor.at_word("TABLE") || cursor.at_word("TENSOR") || cursor.at_word("VIEW");
  const Token::Kind next = cursor.next().kind;
  if (of_kind && (next == Token::Kind::word || next == Token::Kind::quoted_name)) cursor.advance();
  return Describe{cursor.expect_name("a name after DESCRIBE")};
}

void refuse_name(Cursor& cursor, std::string_view statement) {
  if (cursor.at_name())
    fail_parse(cursor.location(), "{} takes no name: it works on the whole database", statement);
}

Node show(Cursor& cursor) {
  constexpr std::string_view all[] = {"TABLES",   "TENSORS", "VIEWS", "FUNCTIONS",
                                      "SETTINGS", "HISTORY", "JOBS"};
  for (const std::string_view what : all) {
    if (!cursor.take_word(what)) continue;
    if (cursor.at_word("LIKE"))
      fail_parse(cursor.location(), "SHOW {0} LIKE is not supported; SHOW {0} lists all", what);
    return Show{in_lower_case(what)};
  }
  const std::string_view meant = nearest(cursor.token().text, all);
  if (!meant.empty())
    fail_parse(cursor.location(), "syntax error at or near \"{}\"; did you mean {}?",
               cursor.token().text, meant);
  cursor.fail_expected(
      "TABLES, TENSORS, VIEWS, FUNCTIONS, SETTINGS, HISTORY or JOBS after SHOW; SHOW SETTINGS "
      "shows "
      "the values of all settings");
}

Node set(Cursor& cursor) {
  Set found{in_lower_case(cursor.expect_name("a setting name")), {}};
  if (!cursor.take_symbol("=")) cursor.expect_word("TO", "= or TO and a value");
  if (!cursor.take_word("DEFAULT")) found.value = setting(cursor);
  return found;
}

Node explain(Cursor& cursor) {
  const Cursor::Nested nested(cursor);
  // Words before the parentheses are options that are on.
  Options options;
  for (const char* word : {"ANALYZE", "VERBOSE"})
    if (const Location location = cursor.location(); cursor.take_word(word))
      options.emplace_back(in_lower_case(word), make(location, Literal{true}));
  if (cursor.at_symbol("(")) {
    Cursor ahead = cursor;
    ahead.advance();
    if (!at_query(ahead) && !ahead.at_symbol("(")) add_options_in_parentheses(cursor, options);
  }
  Explain found;
  for (auto& [name, value] : options) {
    if (name != "analyze") {
      found.options.emplace_back(name, value);
      continue;
    }
    const std::optional<bool> on = on_or_off(*value);
    if (!on) fail_parse(value->location, "ANALYZE must be ON or OFF");
    found.analyze = *on;
  }
  if (cursor.at_word("EXPLAIN")) fail_parse(cursor.location(), "EXPLAIN cannot explain EXPLAIN");
  found.statement = statement(cursor);
  return found;
}

using Rest = Node (*)(Cursor&);
struct Kind {
  std::string_view word;
  Rest rest;  // what follows the word
};
constexpr Kind kinds[] = {
    {"CREATE", create},
    {"INSERT", insert},
    {"COPY", copy},
    {"DROP", drop},
    {"ALTER", rename},
    {"DESCRIBE", describe},
    {"SHOW", show},
    {"SET", set},
    {"RESET",
     [](Cursor& cursor) -> Node {
       return Set{in_lower_case(cursor.expect_name("a setting name")), {}};
     }},
    {"CHECKPOINT",
     [](Cursor& cursor) -> Node {
       refuse_name(cursor, "CHECKPOINT");
       return Checkpoint{};
     }},
    {"VACUUM",
     [](Cursor& cursor) -> Node {
       refuse_name(cursor, "VACUUM");
       return Vacuum{};
     }},
    {"MATERIALIZE", [](Cursor& cursor) -> Node { return materialize(cursor); }},
    {"EXECUTE", [](Cursor& cursor) -> Node { return execute(cursor); }},
    {"EXPLAIN", explain},
};

Node node(Cursor& cursor) {
  if (cursor.at_symbol("(") || cursor.at_word("SELECT") || cursor.at_word("WITH") ||
      cursor.at_word("VALUES"))
    return query(cursor);
  for (const Kind& kind : kinds)
    if (cursor.take_word(kind.word)) return kind.rest(cursor);
  const Token& token = cursor.token();
  if (token.kind != Token::Kind::word) cursor.fail_expected("a statement such as SELECT or CREATE");
  const std::string_view meant = nearest(token.text, statement_words());
  const std::string_view remedy = remedy_for(token.text);
  const std::string word = readable(token.text);
  if (!remedy.empty())
    fail_parse(token.location, "syntax error at or near \"{}\"; {}", word, remedy);
  if (!meant.empty())
    fail_parse(token.location, "syntax error at or near \"{}\"; did you mean {}?", word, meant);
  fail_parse(
      token.location,
      "syntax error at or near \"{}\": expected a statement such as SELECT, CREATE, INSERT or "
      "EXPLAIN",
      word);
}

}  // namespace

ExpressionPtr setting(Cursor& cursor) {
  const Location location = cursor.location();
  if (cursor.take_word("ON")) return make(location, Name{{}, "on"});
  return expression(cursor);
}

Options options_in_parentheses(Cursor& cursor) {
  Options options;
  add_options_in_parentheses(cursor, options);
  return options;
}

void add_options_in_parentheses(Cursor& cursor, Options& options) {
  cursor.expect_symbol("(", "'(' and options, as in (format = csv)");
  do {
    const Location location = cursor.location();
    std::string name = in_lower_case(cursor.expect_name("an option name"));
    for (const auto& [other, value] : options)
      if (other == name)
        fail_parse(location, "option \"{}\" specified more than once", readable(name));
    const bool has_value =
        cursor.take_symbol("=") || !(cursor.at_symbol(",") || cursor.at_symbol(")"));
    ExpressionPtr value = has_value ? setting(cursor) : make(location, Literal{true});
    options.emplace_back(std::move(name), std::move(value));
  } while (cursor.take_comma());
  cursor.expect_symbol(")", "',' or ')' after an option");
}

StatementPtr statement(Cursor& cursor) {
  const Location begin = cursor.location();
  const int values_before = cursor.values_taken();
  Node found = node(cursor);
  return std::make_shared<const Statement>(Statement{std::move(found), begin, cursor.end_of_last(),
                                                     cursor.values_taken() - values_before});
}

}  // namespace tessera::sql::grammar
