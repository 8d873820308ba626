#include <gtest/gtest.h>

#include "lang/sql/parser.h"
#include "lang/sql/printer.h"
#include "support/printed_sql.h"

// The SQL of the papers, as it is printed there: it is read, and what is printed of it is read
// again.

namespace tessera::sql {
namespace {

namespace printed = tessera::testing::printed;

struct Printed {
  const char* where;
  const char* text;
};

const Printed all[] = {
    // Jankov et al., Declarative Recursive Computation on an RDBMS, PVLDB 2019.
    {"section 3.1, the first of the triangle", printed::triangle_top},
    {"section 3.1, its diagonal", printed::triangle_diagonal},
    {"section 3.1, its first column", printed::triangle_first_column},
    {"section 3.1, the rest of it", printed::triangle_inside},
    {"section 3.1, one version", printed::triangle_one},
    {"section 3.1, many versions", printed::triangle_row},
    {"section 3.1, kept for later", printed::triangle_row_kept},
    {"section 3.1, the first of the Fibonacci numbers", printed::fibonacci_first},
    {"section 3.1, the others", printed::fibonacci_others},
    {"section 3.1, a union over two indices", printed::triangle_union},
    {"section 3.2, input", R"(
CREATE TABLE A[i:0...][j:0] (COL, ACT) AS
SELECT DI.COL, DI.VAL
FROM DATA_INPUT AS DI;
)"},
    {"section 3.2, weighted sums", R"(
CREATE TABLE WI[i:0...][j:1...9] (COL, VAL) AS
SELECT W.COL, SUM(matmul(A.ACT, W.MAT))
FROM W[i][j] AS w, A[i][j-1] AS A
WHERE W.ROW = A.COL
GROUP BY W.COL;
)"},
    {"section 3.2, activations", R"(
CREATE TABLE A[i:0...][j:1...8] (COL, ACT) AS
SELECT WI.COL, relu(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;
)"},
    {"section 3.2, prediction", R"(
CREATE TABLE A[i:0...][j:9] (COL, ACT) AS
SELECT WI.COL, softmax(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;
)"},
    {"section 3.2, the error at the top", R"(
CREATE TABLE E[i:0...][j:9] (COL, ERR) AS
SELECT A.COL, crossentropyderiv(A.ACT, DO.VAL)
FROM A[i][j] AS A, DATA_OUTPUT AS DO;
)"},
    {"section 3.2, the error below", R"(
CREATE TABLE E[i:0...][j:1...8] (COL, ERR) AS
SELECT W.ROW, SUM(matmul(E.ERR, t(W.MAT))
                * reluderiv(A.ACT))
FROM A[i][j] AS A, E[i][j+1] AS E,
     W[i][j+1] AS W
WHERE A.COL = W.ROW AND W.COL = E.COL
GROUP BY W.ROW;
)"},
    {"section 3.2, weights", R"(
CREATE TABLE W[i:1...][j:1...9] (ROW, COL, MAT) AS
SELECT W.ROW, W.COL,
       W.MAT - matmul(t(A.ACT), E.ERR) * 0.00000001
FROM W[i-1][j] AS W, E[i-1][j] AS E,
     A[i-1][j-1] AS A
WHERE A.COL = W.ROW AND W.COL = E.COL;
)"},
    {"section 3.2, biases", R"(
CREATE TABLE B[i:1...][j:1...9] (COL, VEC) AS
SELECT B.COL,
       B.VEC - reducebyrow(E.ERR) * 0.00000001
FROM B[i-1][j] AS B, E[i-1][j] AS E
WHERE B.COL = E.COL;
)"},
    {"figure 2, the query without BULK COLLECT INTO", R"(
--First, issue a query that computes the errors
--being backpropagated from the top layer in
--the network.
SELECT 9, W.ROW, W.COL, A.ACT, E.ERR, W.MAT
FROM A, W,
--Note: we are using cross-entropy loss
(SELECT A.COL,
  crossentropyderiv(A.ACT, DO.VAL) AS ERR
FROM A, DATA_OUTPUT AS DO
WHERE A.LAYER=9) AS E
WHERE A.COL=W.ROW AND W.COL=E.COL
AND A.LAYER=8 AND W.LAYER=9
AND A.ITER=i AND W.ITER=i;
)"},
    // Jankov et al., Distributed Numerical and Machine Learning Computations via Two-Phase
    // Execution of Aggregated Join Trees, PVLDB 2021.
    {"two-phase execution, section 1, a product of matrices", printed::matrix_product},
    {"two-phase execution, section 2, the double dot product, with the parenthesis that it lacks",
     printed::double_dot_product},
};

TEST(PapersSql, IsReadAsPrinted) {
  for (const Printed& example : all) try {
      const auto statements = parse(example.text);
      ASSERT_EQ(statements.size(), 1U) << example.where;
      const std::string text = to_string(*statements[0]);
      EXPECT_EQ(to_string(*parse(text).at(0)), text) << example.where;
    } catch (const lang::ErrorAt& error) {
      ADD_FAILURE() << example.where << ": " << error.what();
    }
}

TEST(PapersSql, IndicesAreThoseOfTheText) {
  const auto statements = parse(all[3].text);
  const auto& table = std::get<CreateTable>(statements.at(0)->node);
  ASSERT_EQ(table.indices.size(), 2U);
  EXPECT_EQ(table.indices[0].variable, "i");
  EXPECT_TRUE(table.indices[0].unbounded);
  EXPECT_EQ(to_string(*table.indices[0].from), "2");
  EXPECT_EQ(table.indices[1].variable, "j");
  EXPECT_FALSE(table.indices[1].unbounded);
  EXPECT_EQ(to_string(*table.indices[1].to), "i - 1");
  ASSERT_EQ(table.columns.size(), 1U);
  EXPECT_FALSE(table.columns[0].type.has_value());
}

}  // namespace
}  // namespace tessera::sql
