#include "support/tiled_matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::testing {

Matrix made(int rows, int columns, int seed) {
  const auto number = [](int at) {
    const auto mixed = static_cast<unsigned>(at) * 2654435761U;
    return static_cast<double>(static_cast<int>((mixed >> 8) % 2001) - 1000) / 1024.0;
  };
  Matrix matrix(rows, std::vector<double>(columns));
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) matrix[r][c] = number(seed * 7919 + r * 131 + c);
  return matrix;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.size(), std::vector<double>(b[0].size(), 0));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < b[0].size(); ++j) result[i][j] += a[i][k] * b[k][j];
  return result;
}

Matrix transposed(const Matrix& a) {
  Matrix result(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) result[j][i] = a[i][j];
  return result;
}

std::vector<int> cuts_every(int step, int size) {
  std::vector<int> at{0};
  while (at.back() < size) at.push_back(std::min(size, at.back() + step));
  return at;
}

std::string literal(const std::vector<double>& values, int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += fmt::format("{}{:.17g}", i == from ? "" : ", ", values[i]);
  return "[" + text + "]";
}

std::string literal(const Matrix& matrix, int row_from, int row_to, int from, int to) {
  std::string text;
  for (int r = row_from; r < row_to; ++r)
    text += (r == row_from ? "" : ", ") + literal(matrix[r], from, to);
  return "[" + text + "]";
}

std::string table_of_tiles(const std::string& name, const Matrix& matrix,
                           const std::vector<int>& rows, const std::vector<int>& columns) {
  std::string tiles;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r)
    for (std::size_t c = 0; c + 1 < columns.size(); ++c)
      tiles += fmt::format("{}({}, {}, {})", tiles.empty() ? "" : ", ", r, c,
                           literal(matrix, rows[r], rows[r + 1], columns[c], columns[c + 1]));
  return fmt::format(
      "CREATE TABLE {0} (tileRow INT, tileCol INT, mat MATRIX[{1}][{2}]);\n"
      "INSERT INTO {0} VALUES {3};\n",
      name, rows[1], columns[1], tiles);
}

Matrix put_together(const ResultTable& tiles, const std::vector<int>& rows,
                    const std::vector<int>& columns) {
  Matrix whole(rows.back(), std::vector<double>(columns.back(), NAN));
  EXPECT_EQ(tiles.rows(), static_cast<std::int64_t>((rows.size() - 1) * (columns.size() - 1)));
  for (std::int64_t t = 0; t < tiles.rows(); ++t) {
    const auto row = std::get<std::int64_t>(tiles.at(t, 0));
    const auto column = std::get<std::int64_t>(tiles.at(t, 1));
    const Tile tile = std::get<Tile>(tiles.at(t, 2));
    for (std::int64_t r = 0; r < tile.shape()[0]; ++r)
      for (std::int64_t c = 0; c < tile.shape()[1]; ++c)
        whole[rows[row] + r][columns[column] + c] = tile.at<double>({r, c});
  }
  return whole;
}

void expect_near(const Matrix& actual, const Matrix& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t r = 0; r < actual.size(); ++r) {
    ASSERT_EQ(actual[r].size(), expected[r].size()) << what;
    for (std::size_t c = 0; c < actual[r].size(); ++c)
      ASSERT_NEAR(actual[r][c], expected[r][c], tolerance)
          << what << ", element " << r << ", " << c;
  }
}

}  // namespace tessera::testing
