#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/random_queries.h"
#include "support/row_texts.h"
#include "tessera/session.h"

// What queries mean is what their operators yield row by row; plans have to yield the same.

namespace tessera::testing {
namespace {

/// A number up to rounding: sums may be taken in any order.
std::string rounded(double value) { return fmt::format("{:.6g}", value == 0 ? 0.0 : value); }

std::string rounded_text(const SqlValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return rounded(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* tile = std::get_if<Tile>(&value);
  if (tile == nullptr) return "NULL";
  const Tile dense = tile->dense().cast(DType::f64).contiguous();
  std::string text = to_string(tile->shape());
  for (std::int64_t i = 0; i < dense.elements(); ++i)
    text += " " + rounded(dense.data<double>()[i]);
  return text;
}

std::vector<std::string> answer_of(Session& session, const std::string& query) {
  std::vector<std::string> rows;
  try {
    rows = row_texts(session.query(query), rounded_text);
  } catch (const StatementError& error) {
    return {std::string(error.kind())};
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Holds queries over tables whose keys are so far apart to what they yield row by row: every
/// `on_sites`-th of them on several sites too.
void expect_plans_yield_what_rows_do(int usual_queries, int apart, int on_sites) {
  const char* wanted = std::getenv("QUERIES");
  const int queries = wanted != nullptr ? std::atoi(wanted) : usual_queries;
  const char* seed = std::getenv("SEED");
  const unsigned first = seed != nullptr ? static_cast<unsigned>(std::atoi(seed)) : 1;
  constexpr int queries_a_database = 100;
  int refused = 0;
  for (int done = 0; done < queries; done += queries_a_database) {
    std::mt19937 chance(first * 7919 + static_cast<unsigned>(done));
    const Database database = Database::temporary();
    Session plans(database);
    SessionOptions by_definition;
    by_definition.by_rows = true;
    Session rows(database, by_definition);
    SessionOptions spread;
    spread.run.sites = 3;
    Session sites(database, spread);
    const std::string tables = tables_for_random_queries(chance, apart);
    plans.execute(tables);
    for (int i = 0; i < queries_a_database; ++i) {
      const std::string query = random_query(chance);
      const auto expected = answer_of(rows, query);
      refused += expected.size() == 1 && expected[0] == "TypeError" ? 1 : 0;
      ASSERT_EQ(answer_of(plans, query), expected) << query << "\nof\n" << tables;
      if (i % on_sites != 0) continue;
      ASSERT_EQ(answer_of(sites, query), expected) << query << "\nof\n" << tables;
    }
  }
  EXPECT_LT(refused, queries / 10);  // most of them mean something
}

TEST(QueryLaws, PlansYieldWhatRowsDo) { expect_plans_yield_what_rows_do(1500, 1, 10); }

TEST(QueryLaws, AlsoOfKeysThatAreFarApart) { expect_plans_yield_what_rows_do(500, 500'000'000, 2); }

}  // namespace
}  // namespace tessera::testing
