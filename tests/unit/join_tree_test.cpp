#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tessera/session.h"

// The order in which the tables of a FROM clause are joined, as EXPLAIN shows it.

namespace tessera {
namespace {

class JoinTree : public ::testing::Test {
 protected:
  JoinTree() {
    for (const char* name : {"a", "b", "c", "d"})
      session_.execute(
          fmt::format("CREATE TABLE {0} (x INT, y INT, v VECTOR[1]);"
                      "INSERT INTO {0} VALUES (0, 0, [1]), (0, 1, [2]), (1, 0, [3]), (1, 1, [5])",
                      name));
  }

  /// The joins of a query, the outermost first.
  std::vector<std::string> joins(const std::string& query) {
    const ResultTable lines = session_.query("EXPLAIN " + query);
    std::vector<std::string> found;
    for (std::int64_t i = 0; i < lines.rows(); ++i) {
      const std::string line = lines.text(i, 0);
      const auto at = line.find_first_not_of(' ');
      if (at == std::string::npos) break;  // what follows is the physical plan
      if (line.substr(at).starts_with("Join ")) found.push_back(line.substr(at));
    }
    return found;
  }

  Session session_{Database::temporary()};
};

TEST_F(JoinTree, WhatConditionsConnectIsNeverCombinedAsAWhole) {
  std::vector<std::string> tables{"a", "b", "c", "d"};
  std::string answer;
  do {
    const std::string query = fmt::format(
        "SELECT SUM(sum_elements(a.v) * sum_elements(b.v) * sum_elements(c.v) * "
        "sum_elements(d.v)) FROM {} WHERE a.x = b.x AND b.y = c.x AND c.y = d.y",
        fmt::join(tables, ", "));
    const std::vector<std::string> found = joins(query);
    ASSERT_EQ(found.size(), 3U) << query;
    for (const std::string& join : found) EXPECT_FALSE(join.starts_with("Join all")) << query;
    const std::string value = session_.query(query).text(0, 0);
    if (answer.empty()) answer = value;
    EXPECT_EQ(value, answer) << query;
  } while (std::next_permutation(tables.begin(), tables.end()));
}

TEST_F(JoinTree, WhatNothingConnectsComesLast) {
  std::vector<std::string> tables{"a", "b", "c", "d"};
  do {
    const std::string query = fmt::format("SELECT COUNT(*) FROM {} WHERE b.x = c.x AND c.y = d.y",
                                          fmt::join(tables, ", "));
    const std::vector<std::string> found = joins(query);
    ASSERT_EQ(found.size(), 3U) << query;
    EXPECT_TRUE(found[0].starts_with("Join all")) << query;
    EXPECT_FALSE(found[1].starts_with("Join all")) << query;
    EXPECT_FALSE(found[2].starts_with("Join all")) << query;
    EXPECT_EQ(session_.query(query).text(0, 0), "64");
  } while (std::next_permutation(tables.begin(), tables.end()));
}

TEST_F(JoinTree, MoreEqualitiesGoFirst) {
  const std::vector<std::string> found =
      joins("SELECT COUNT(*) FROM a, b, c WHERE a.y = c.x AND b.x = c.x AND b.y = c.y");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with("Join a.y = c.x")) << found[0];
  EXPECT_TRUE(found[1].starts_with("Join (b.x = c.x) AND (b.y = c.y)")) << found[1];
}

TEST_F(JoinTree, AnEqualityOfBothSidesTogetherConnectsLessThanOneOfEach) {
  const std::vector<std::string> found =
      joins("SELECT COUNT(*) FROM a, b, c WHERE a.x + b.x = 1 AND b.y = c.y");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[1].starts_with("Join b.y = c.y")) << found[1];
}

}  // namespace
}  // namespace tessera
