#include <gtest/gtest.h>

#include "lang/sql/parser.h"
#include "lang/sql/printer.h"
#include "support/random_sql.h"
#include "support/sql_trees.h"

namespace tessera::sql {
namespace {

/// parse(print(tree)) == tree
TEST(SqlPrintParse, WhatIsPrintedIsReadAsTheSameTree) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const StatementPtr statement = random_statement(random);
    const std::string text = to_string(*statement);
    try {
      const auto read = parse(text);
      ASSERT_EQ(read.size(), 1U) << "seed " << seed << ": " << text;
      ASSERT_EQ(tree(*read[0]), tree(*statement)) << "seed " << seed << ": " << text;
      ASSERT_EQ(to_string(*read[0]), text) << "seed " << seed;
      ASSERT_EQ(read[0]->begin.offset, 0);
      ASSERT_EQ(read[0]->end.offset, static_cast<int>(text.size()));
    } catch (const lang::ErrorAt& error) {
      FAIL() << "seed " << seed << ": " << error.what() << " at " << error.location.offset
             << " of\n"
             << text;
    }
  }
}

TEST(SqlPrintParse, ExpressionsByThemselves) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const ExpressionPtr expression = random_expression(random, 5);
    const std::string text = to_string(*expression);
    try {
      ASSERT_EQ(tree(*parse_expression(text)), tree(*expression))
          << "seed " << seed << ": " << text;
    } catch (const lang::ErrorAt& error) {
      FAIL() << "seed " << seed << ": " << error.what() << " at " << error.location.offset
             << " of\n"
             << text;
    }
  }
}

}  // namespace
}  // namespace tessera::sql
