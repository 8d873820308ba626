#pragma once

#include <string>
#include <vector>

#include "tessera/session.h"

// Matrices as plain vectors, and as tables of tiles.

namespace tessera::testing {

using Matrix = std::vector<std::vector<double>>;

/// A matrix of numbers that look random and have few digits, so that SQL's text holds them exactly.
Matrix made(int rows, int columns, int seed);
Matrix product(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);

/// Where tiles of such an extent begin, and the end: the last one may be smaller.
std::vector<int> cuts_every(int step, int size);

/// Numbers from one place up to another, and a block of a matrix, as SQL writes them.
std::string literal(const std::vector<double>& values, int from, int to);
std::string literal(const Matrix& matrix, int row_from, int row_to, int from, int to);

/// Statements that make a table (tileRow, tileCol, mat) of a matrix.
std::string table_of_tiles(const std::string& name, const Matrix& matrix,
                           const std::vector<int>& rows, const std::vector<int>& columns);
/// The matrix of which a query yields (row, column, tile).
Matrix put_together(const ResultTable& tiles, const std::vector<int>& rows,
                    const std::vector<int>& columns);

void expect_near(const Matrix& actual, const Matrix& expected, double tolerance,
                 const std::string& what);

}  // namespace tessera::testing
