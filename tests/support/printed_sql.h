#pragma once

// The SQL of the papers as it is printed there, where it is more than read: it is run.

namespace tessera::testing::printed {

// Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019), section 3.1.

inline constexpr const char* triangle_top = R"(
CREATE TABLE pascalsTri[0][0] (val) AS
SELECT val FROM VALUES (1);
)";

inline constexpr const char* triangle_diagonal = R"(
CREATE TABLE pascalsTri[i:1...][i] (val) AS
SELECT * FROM pascalsTri[i-1][i-1]
)";

inline constexpr const char* triangle_first_column = R"(
CREATE TABLE pascalsTri[i:1...][0] (val) AS
SELECT * FROM pascalsTri[i-1][0]
)";

inline constexpr const char* triangle_inside = R"(
CREATE TABLE pascalsTri[i:2...][j:1...i-1] (val) AS
SELECT pt1.val + pt2.val AS val
FROM pascalsTri[i-1][j-1] AS pt1,
pascalsTri[i-1][j] AS pt2;
)";

inline constexpr const char* triangle_one = "SELECT * FROM pascalsTri[56][23]";

inline constexpr const char* triangle_row = R"(
EXECUTE (
  FOR j IN 0...50:
    SELECT * FROM pascalsTri[50][j])
)";

inline constexpr const char* triangle_row_kept = R"(
EXECUTE (
  FOR j IN 0...50:
    MATERIALIZE pascalsTri[50][j])
)";

inline constexpr const char* fibonacci_first = R"(
CREATE TABLE Fibonacci[i:0...1] (val) AS
SELECT * FROM VALUES (1)
)";

inline constexpr const char* fibonacci_others = R"(
CREATE TABLE Fibonacci[i:2...] (val) AS
SELECT SUM (VAL) FROM UNION Fibonacci[i-2...i-1]
)";

inline constexpr const char* triangle_union = "SELECT * FROM UNION pascalsTri[i:0...50][0...i]";

// Jankov et al., "Distributed Numerical and Machine Learning Computations via Two-Phase Execution
// of Aggregated Join Trees" (2021), sections 1 and 2.1. The second lacks a parenthesis there.

inline constexpr const char* matrix_product = R"(
SELECT A.tileRow, B.tileCol, SUM (matrix_multiply (A.mat, B.mat)) FROM A, B
WHERE A.tileCol = B.tileRow GROUP BY A.tileRow, B.tileCol
)";

inline constexpr const char* double_dot_product = R"(
SELECT SUM (sum_elements (hadamard_product
(A.mat, B.mat))) FROM A, B
WHERE A.tileCol = B.tileCol AND
A.tileRow = B.tileRow
)";

}  // namespace tessera::testing::printed
