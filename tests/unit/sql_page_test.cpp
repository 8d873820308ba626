#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "lang/sql/grammar.h"
#include "lang/sql/parser.h"
#include "lang/sql/words.h"
#include "query/binding/bind_aggregate.h"
#include "tessera/session.h"

// docs/sql.md has all of the language: whatever the grammar or a session knows has an example
// there, or is named. That the examples are right is for tests/python/test_docs_shell.py.

namespace tessera {
namespace {

std::string page() {
  std::ifstream file(SQL_PAGE);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(text.empty()) << SQL_PAGE;
  return text;
}

/// What is typed on the page, a text for each statement: at the prompt, and after -c.
std::vector<std::string> typed() {
  const std::string text = page();
  std::vector<std::string> found;
  const std::regex lines("^(tessera> |    \\.\\.\\.> )(.*)$", std::regex::multiline);
  for (std::sregex_iterator line(text.begin(), text.end(), lines), end; line != end; ++line) {
    if ((*line)[1] == "tessera> ") found.emplace_back();
    found.back() += (*line)[2].str() + "\n";
  }
  const std::regex given("-c \"([^\"]*)\""), one("[^; ][^;]*");
  for (std::sregex_iterator match(text.begin(), text.end(), given), end; match != end; ++match) {
    const std::string several = (*match)[1];
    for (std::sregex_iterator part(several.begin(), several.end(), one); part != end; ++part)
      found.push_back(part->str());
  }
  return found;
}

/// The statements among them that can be read: some show what an error looks like.
std::vector<sql::StatementPtr> examples() {
  std::vector<sql::StatementPtr> found;
  for (const std::string& text : typed()) {
    try {
      for (const sql::StatementPtr& statement : sql::parse(text)) found.push_back(statement);
    } catch (const lang::ErrorAt&) {
      continue;
    }
  }
  return found;
}

template <class Kind>
bool has_example(const std::function<bool(const Kind&)>& is_meant) {
  for (const sql::StatementPtr& statement : examples())
    if (const auto* found = std::get_if<Kind>(&statement->node); found && is_meant(*found))
      return true;
  return false;
}

bool is_named(const std::string& word) {
  return std::regex_search(page(), std::regex("`[^`\n]*\\b" + word + "\\b[^`\n]*`"));
}

/// The words of a list in an error's message, after a mark: "available: a, b, c".
std::vector<std::string> listed_by_error(Session& session, const std::string& statement,
                                         const std::string& mark) {
  try {
    session.execute(statement);
  } catch (const StatementError& error) {
    const std::string message = error.what();
    const std::size_t at = message.find(mark);
    EXPECT_NE(at, std::string::npos) << message;
    std::vector<std::string> words;
    const std::string rest = message.substr(at + mark.size());
    const std::regex word("\\w+");
    for (std::sregex_iterator one(rest.begin(), rest.end(), word), end; one != end; ++one)
      if (one->str() != "and" && one->str() != "or") words.push_back(one->str());
    return words;
  }
  ADD_FAILURE() << statement << " is no error";
  return {};
}

TEST(SqlPage, EveryKindOfStatementHasAnExample) {
  std::set<std::size_t> kinds;
  for (const sql::StatementPtr& statement : examples()) kinds.insert(statement->node.index());
  for (std::size_t kind = 0; kind < std::variant_size_v<decltype(sql::Statement::node)>; ++kind)
    EXPECT_TRUE(kinds.contains(kind)) << "alternative " << kind << " of sql::Statement";
  for (const std::string_view word : sql::statement_words()) {
    const std::vector<std::string> all = typed();
    const bool begins = std::any_of(all.begin(), all.end(), [&](const std::string& text) {
      return sql::same_word(text.substr(0, text.find_first_of(" ;\n")), word);
    });
    EXPECT_TRUE(begins) << word;
  }
}

TEST(SqlPage, EveryFormOfAStatementHasAnExample) {
  using namespace sql;
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return !s.query; }));
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return s.query && s.indices.empty(); }));
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return !s.indices.empty(); }));
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return !s.primary_key.empty(); }));
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return s.if_not_exists; }));
  EXPECT_TRUE(has_example<CreateTable>([](const auto& s) { return s.or_replace; }));
  EXPECT_TRUE(has_example<CreateTensor>([](const auto& s) { return s.or_replace; }));
  EXPECT_TRUE(has_example<CreateTensor>([](const auto& s) { return s.file && s.tile; }));
  EXPECT_TRUE(has_example<CreateTensor>([](const auto& s) { return !s.options.empty(); }));
  EXPECT_TRUE(has_example<CreateTensor>([](const auto& s) { return s.expression != nullptr; }));
  EXPECT_TRUE(has_example<CreateTensor>(
      [](const auto& s) { return s.program != nullptr && !s.others.empty(); }));
  EXPECT_TRUE(has_example<CreateTensor>(
      [](const auto& s) { return s.is_virtual && s.element && s.partition_by; }));
  EXPECT_TRUE(has_example<CreateView>([](const auto& s) { return !s.columns.empty(); }));
  EXPECT_TRUE(has_example<Insert>([](const auto& s) { return !s.columns.empty(); }));
  EXPECT_TRUE(has_example<Copy>([](const auto& s) { return s.from; }));
  EXPECT_TRUE(has_example<Copy>([](const auto& s) { return !s.from && !s.table.empty(); }));
  EXPECT_TRUE(has_example<Copy>([](const auto& s) { return s.query && !s.options.empty(); }));
  for (const ObjectKind kind : {ObjectKind::table, ObjectKind::tensor, ObjectKind::view}) {
    EXPECT_TRUE(has_example<Drop>([&](const auto& s) { return s.kind == kind; }));
    EXPECT_TRUE(has_example<Rename>([&](const auto& s) { return s.kind == kind; }));
  }
  EXPECT_TRUE(has_example<Drop>([](const auto& s) { return s.if_exists; }));
  EXPECT_TRUE(has_example<Set>([](const auto& s) { return s.value != nullptr; }));
  EXPECT_TRUE(has_example<Set>([](const auto& s) { return s.value == nullptr; }));
  EXPECT_TRUE(has_example<Explain>([](const auto& s) { return s.analyze; }));
  EXPECT_TRUE(has_example<Explain>([](const auto& s) { return !s.options.empty(); }));
}

TEST(SqlPage, EveryClauseOfAQueryHasAnExample) {
  using namespace sql;
  const auto has = [](const std::function<bool(const Query&)>& is_meant) {
    return has_example<QueryPtr>([&](const QueryPtr& query) { return is_meant(*query); });
  };
  const auto select = [&](const std::function<bool(const Select&)>& is_meant) {
    return has([&](const Query& query) {
      const auto* body = std::get_if<Select>(&query.body);
      return body != nullptr && is_meant(*body);
    });
  };
  EXPECT_TRUE(has([](const Query& q) { return !q.with.empty(); }));
  EXPECT_TRUE(has([](const Query& q) { return std::holds_alternative<Values>(q.body); }));
  EXPECT_TRUE(has([](const Query& q) { return std::holds_alternative<UnionOf>(q.body); }));
  EXPECT_TRUE(has([](const Query& q) { return !q.order_by.empty() && q.limit && q.offset; }));
  EXPECT_TRUE(select([](const Select& s) { return s.distinct; }));
  EXPECT_TRUE(select([](const Select& s) { return s.where && !s.group_by.empty(); }));
  EXPECT_TRUE(select([](const Select& s) { return s.having != nullptr; }));
  const auto reads = [&](const std::function<bool(const TableReference&)>& is_meant) {
    return select(
        [&](const Select& s) { return std::any_of(s.from.begin(), s.from.end(), is_meant); });
  };
  EXPECT_TRUE(reads([](const TableReference& t) { return t.on != nullptr; }));
  EXPECT_TRUE(reads([](const TableReference& t) { return !t.column_aliases.empty(); }));
  EXPECT_TRUE(reads([](const TableReference& t) { return t.source.index() == 1; }));  // UNION t[..]
}

TEST(SqlPage, EveryKindOfExpressionHasAnExample) {
  std::set<std::size_t> kinds;
  std::set<sql::BinaryOperator> operators;
  const auto visit = [&](const auto& self, const sql::ExpressionPtr& expression) -> void {
    if (!expression) return;
    kinds.insert(expression->node.index());
    if (const auto* binary = std::get_if<sql::Binary>(&expression->node))
      operators.insert(binary->op);
    for (const sql::ExpressionPtr& part : query::parts_of(*expression)) self(self, part);
  };
  for (const sql::StatementPtr& statement : examples()) {
    if (const auto* tensor = std::get_if<sql::CreateTensor>(&statement->node))
      visit(visit, tensor->expression);
    const auto* query = std::get_if<sql::QueryPtr>(&statement->node);
    const auto* select = query != nullptr ? std::get_if<sql::Select>(&(*query)->body) : nullptr;
    if (select == nullptr) continue;
    for (const sql::SelectItem& item : select->items) visit(visit, item.expression);
    visit(visit, select->where);
  }
  using Nodes = decltype(sql::Expression::node);
  const std::size_t versioned = Nodes(sql::Versioned{}).index();  // which has no meaning so far
  for (std::size_t kind = 0; kind < std::variant_size_v<Nodes>; ++kind)
    EXPECT_TRUE(kinds.contains(kind) || kind == versioned) << "alternative " << kind;
  for (int op = 0; op <= static_cast<int>(sql::BinaryOperator::logical_or); ++op)
    EXPECT_TRUE(operators.contains(static_cast<sql::BinaryOperator>(op)))
        << sql::to_string(static_cast<sql::BinaryOperator>(op));
}

TEST(SqlPage, TypesAggregatesSettingsAndOptionsAreNamed) {
  for (const std::string_view word : sql::grammar::type_words())
    EXPECT_TRUE(is_named(std::string(word))) << word;
  for (const std::string_view word : sql::plain_aggregate_words())
    EXPECT_TRUE(is_named(std::string(word))) << word;
  Session session{Database::temporary()};
  const ResultTable settings = session.query("SHOW SETTINGS");
  for (std::int64_t row = 0; row < settings.rows(); ++row) {
    const std::string name = settings.text(row, 0);
    EXPECT_NE(page().find("\n " + name + " "), std::string::npos) << name;
  }
  session.execute("CREATE TABLE t (a INT)");
  for (const std::string& option :
       listed_by_error(session, "COPY t TO 't.csv' WITH (no_such = 1)", "available: "))
    EXPECT_TRUE(is_named(option)) << option;
  for (const std::string& option :
       listed_by_error(session, "EXPLAIN (no_such 1) SELECT 1", "available: "))
    EXPECT_TRUE(is_named(option)) << option;
  for (const std::string& what : listed_by_error(session, "SHOW 1", "expected ")) {
    if (what == "after") break;
    EXPECT_TRUE(is_named("SHOW " + what)) << what;
  }
}

}  // namespace
}  // namespace tessera
