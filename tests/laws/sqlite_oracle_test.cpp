#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "support/row_texts.h"
#include "support/scalar_queries.h"
#include "tessera/session.h"

// Queries of numbers and texts mean what another database says they mean.

namespace tessera::testing {
namespace {

/// A number up to rounding, whole or not.
std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  return fmt::format("{:.9g}", value);
}

std::string as_sqlite_prints(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "1" : "0";
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  return "NULL";
}

using Answer = std::vector<std::string>;  // a text for each row

Answer our_answer(Session& session, const std::string& query) {
  try {
    return row_texts(session.query(query), as_sqlite_prints);
  } catch (const std::exception& error) {  // there is no reason for one
    return {error.what()};
  }
}

class Sqlite {
 public:
  Sqlite() {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &opened), SQLITE_OK);
    database_.reset(opened);
  }

  /// The rows of the last statement.
  Answer answer(const std::string& text) {
    Answer rows;
    const char* rest = text.c_str();
    while (*rest != '\0') {
      sqlite3_stmt* made = nullptr;
      if (sqlite3_prepare_v2(database_.get(), rest, -1, &made, &rest) != SQLITE_OK) {
        ADD_FAILURE() << sqlite3_errmsg(database_.get()) << "\n" << text;
        return {};
      }
      const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(made, sqlite3_finalize);
      if (!statement) continue;  // blanks
      rows.clear();
      while (sqlite3_step(statement.get()) == SQLITE_ROW) rows.push_back(row_of(*statement));
    }
    return rows;
  }

 private:
  static std::string row_of(sqlite3_stmt& statement) {
    std::string row;
    for (int c = 0; c < sqlite3_column_count(&statement); ++c) {
      switch (sqlite3_column_type(&statement, c)) {
        case SQLITE_NULL: row += "NULL"; break;
        case SQLITE_INTEGER: row += std::to_string(sqlite3_column_int64(&statement, c)); break;
        case SQLITE_FLOAT: row += number_text(sqlite3_column_double(&statement, c)); break;
        default:
          row += fmt::format("'{}'",
                             reinterpret_cast<const char*>(sqlite3_column_text(&statement, c)));
      }
      row += " | ";
    }
    return row;
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};

TEST(SqliteOracle, ScalarQueriesYieldTheSame) {
  const char* wanted = std::getenv("QUERIES");
  const int queries = wanted != nullptr ? std::atoi(wanted) : 1000;
  const char* seed = std::getenv("SEED");
  const unsigned first = seed != nullptr ? static_cast<unsigned>(std::atoi(seed)) : 1;
  constexpr int queries_a_database = 200, most_failures = 5;
  int failures = 0;
  for (int done = 0; done < queries; done += queries_a_database) {
    std::mt19937 chance(first * 7919 + static_cast<unsigned>(done));
    Session session(Database::temporary());
    Sqlite sqlite;
    const std::string tables = tables_of_scalars(chance);
    session.execute(tables);
    (void)sqlite.answer(tables);
    for (int i = 0; i < queries_a_database; ++i) {
      const ScalarQuery query = random_scalar_query(chance);
      Answer expected = sqlite.answer(query.text.sqlite);
      Answer answer = our_answer(session, query.text.ours);
      if (!query.ordered) {
        std::sort(answer.begin(), answer.end());
        std::sort(expected.begin(), expected.end());
      }
      EXPECT_EQ(answer, expected) << query.text.ours << "\nof\n" << tables;
      failures += answer == expected ? 0 : 1;
      if (failures == most_failures) return;
    }
  }
}

}  // namespace
}  // namespace tessera::testing
