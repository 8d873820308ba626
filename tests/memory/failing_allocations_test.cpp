// An allocation that fails is an error of the statement, in whatever thread it is made:
// OutOfMemory, after which the session and its database are as they were. One allocation of a
// statement fails after the other.

#include <gtest/gtest.h>

#include <cstdlib>

#include "memory/failed_allocation.h"
#include "tessera/session.h"

namespace tessera {
namespace {

const char* const before = R"(
  CREATE TABLE people (id INT, name TEXT, age INT);
  INSERT INTO people VALUES (1, 'ann', 30), (2, 'bob', 25), (3, 'cid', 41);
  CREATE TENSOR X TILE [2][2] AS [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
  CREATE TABLE f[0] (n) AS SELECT 1;
  CREATE TABLE f[i:1...] (n) AS SELECT n * 2 AS n FROM f[i - 1];
)";

/// Statements that leave things as they were, of every kind.
const char* const statements[] = {
    "SELECT name, age FROM people WHERE age > 26 ORDER BY age DESC",
    "SELECT a.name, b.age FROM people AS a, people AS b WHERE a.id = b.id + 1",
    "SELECT DISTINCT age FROM people UNION SELECT id FROM people",
    "SELECT COUNT(*), SUM(age), MIN(name) FROM people",
    "SELECT sum_elements(exp(tile) @ transpose(tile)) FROM X",
    "SELECT a.k0, b.k1, SUM(a.tile @ b.tile) FROM X AS a, X AS b WHERE a.k1 = b.k0 GROUP BY a.k0, "
    "b.k1",
    "SELECT inverse([[2.0, 0.0], [0.0, 4.0]]), einsum([1, 2], [3, 4], spec = 'i,j->ij')",
    "SELECT n FROM f[7]",
    "EXPLAIN SELECT sum_elements(tile) FROM X",
    "EXPLAIN ANALYZE SELECT sum_elements(tile) FROM X",
    "SHOW TABLES",
    "DESCRIBE people",
    "CREATE TENSOR Y AS X @ X.T; DROP TENSOR Y",
    "CREATE TABLE copy AS SELECT id, name FROM people; DROP TABLE copy",
};

class FailingAllocations : public testing::TestWithParam<const char*> {
 protected:
  static void TearDownTestSuite() { EXPECT_GT(refused, 0) << "no allocation has failed"; }
  static inline int refused = 0;
};

/// Makes everything as it is before each trial. What a statement of two parts has left goes.
void tidy(Session& session) {
  for (const char* left : {"DROP TENSOR IF EXISTS Y", "DROP TABLE IF EXISTS copy"})
    (void)session.execute(left);
}

TEST_P(FailingAllocations, EndStatementsAndNothingElse) {
  SessionOptions options;
  options.run.threads = 2;
  Session session(Database::temporary(), options);
  (void)session.execute(before);
  (void)session.execute(GetParam());  // what libraries keep is there
  tidy(session);
  const std::int64_t all = [&] {
    const FailedAllocation never(-1);
    (void)session.execute(GetParam());
    return never.seen();
  }();
  ASSERT_GT(all, 100);
  tidy(session);
  const char* said = std::getenv("RUNS");
  const std::int64_t trials = std::min<std::int64_t>(all, said != nullptr ? std::atoi(said) : 60);
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    const std::int64_t at = all * trial / trials;
    std::string kind, message;
    {
      const FailedAllocation one(at);
      try {
        (void)session.execute(GetParam());
      } catch (const StatementError& error) {
        kind = error.kind();
        message = error.what();
      }
    }
    refused += kind == "OutOfMemory" ? 1 : 0;
    // What lists a folder is the C library's, and says so in its own words.
    const bool is_told = message.find("Cannot allocate memory") != std::string::npos;
    EXPECT_TRUE(kind.empty() || kind == "OutOfMemory" || (kind == "IoError" && is_told))
        << "allocation " << at << " of " << all << ": " << kind << ": " << message;
    (void)Tile::zeros(DType::f64, {200, 100});  // outside of statements there is memory again
    tidy(session);
    EXPECT_EQ(std::get<std::int64_t>(session.query("SELECT COUNT(*) FROM people").at(0, 0)), 3);
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, FailingAllocations, testing::ValuesIn(statements));

}  // namespace
}  // namespace tessera
