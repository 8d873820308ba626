#include "support/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::testing {
namespace {

void softmax(std::vector<double>& row) {
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - most);
  for (double& x : row) x /= sum;
}

/// A matrix whose columns are cut as a layer is: (COL, VAL).
std::string by_columns(const Network& network, const std::string& table, const Matrix& matrix,
                       int layer) {
  const std::vector<int> at = cuts(network, layer);
  std::string rows;
  for (std::size_t t = 0; t + 1 < at.size(); ++t)
    rows += fmt::format("{}({}, {})", t == 0 ? "" : ", ", t,
                        literal(matrix, 0, static_cast<int>(matrix.size()), at[t], at[t + 1]));
  return fmt::format("CREATE TABLE {} (COL INT, VAL MATRIX[{}][{}]);\nINSERT INTO {} VALUES {};\n",
                     table, network.batch, at[1], table, rows);
}

}  // namespace

std::vector<int> cuts(const Network& network, int layer) {
  const int size = network.sizes[layer];
  return cuts_every(layer == network.layers() ? size : network.tile, size);
}

Weights first_weights(const Network& network) {
  Weights weights;
  weights.w.resize(network.layers() + 1);
  weights.b.resize(network.layers() + 1);
  for (int l = 1; l <= network.layers(); ++l) {
    weights.w[l] = made(network.sizes[l - 1], network.sizes[l], l);
    weights.b[l] = made(1, network.sizes[l], 100 + l)[0];
    for (auto& row : weights.w[l])
      for (double& weight : row) weight *= network.scale;
  }
  return weights;
}

Matrix inputs_of(const Network& network) { return made(network.batch, network.sizes[0], 1000); }

Matrix outputs_of(const Network& network) {
  Matrix one_hot(network.batch, std::vector<double>(network.sizes.back(), 0));
  for (int r = 0; r < network.batch; ++r) one_hot[r][r % network.sizes.back()] = 1;
  return one_hot;
}

Weights trained(const Network& network, int iterations) {
  Weights weights = first_weights(network);
  const int last = network.layers();
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<Matrix> a(last + 1), e(last + 1);
    a[0] = inputs_of(network);
    for (int l = 1; l <= last; ++l) {
      a[l] = product(a[l - 1], weights.w[l]);
      for (auto& row : a[l]) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] += weights.b[l][c];
        if (l == last)
          softmax(row);
        else
          for (double& x : row) x = std::max(x, 0.0);
      }
    }
    const Matrix wanted = outputs_of(network);
    e[last] = a[last];
    for (std::size_t r = 0; r < wanted.size(); ++r)
      for (std::size_t c = 0; c < wanted[0].size(); ++c) e[last][r][c] -= wanted[r][c];
    for (int l = last - 1; l >= 1; --l) {
      e[l] = product(e[l + 1], transposed(weights.w[l + 1]));
      for (std::size_t r = 0; r < e[l].size(); ++r)
        for (std::size_t c = 0; c < e[l][0].size(); ++c)
          if (a[l][r][c] <= 0) e[l][r][c] = 0;
    }
    for (int l = 1; l <= last; ++l) {
      const Matrix gradient = product(transposed(a[l - 1]), e[l]);
      for (std::size_t r = 0; r < gradient.size(); ++r)
        for (std::size_t c = 0; c < gradient[0].size(); ++c)
          weights.w[l][r][c] -= network.rate * gradient[r][c];
      for (std::size_t c = 0; c < weights.b[l].size(); ++c)
        for (const auto& row : e[l]) weights.b[l][c] -= network.rate * row[c];
    }
  }
  return weights;
}

std::string data_statements(const Network& network) {
  const Weights weights = first_weights(network);
  std::string text = by_columns(network, "DATA_INPUT", inputs_of(network), 0) +
                     by_columns(network, "DATA_OUTPUT", outputs_of(network), network.layers());
  // A table for each layer, as the shapes differ.
  for (int l = 1; l <= network.layers(); ++l) {
    std::string w_rows, b_rows;
    const std::vector<int> rows = cuts(network, l - 1), columns = cuts(network, l);
    for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
      b_rows += fmt::format("{}({}, {})", b_rows.empty() ? "" : ", ", c,
                            literal(weights.b[l], columns[c], columns[c + 1]));
      for (std::size_t r = 0; r + 1 < rows.size(); ++r)
        w_rows +=
            fmt::format("{}({}, {}, {})", w_rows.empty() ? "" : ", ", r, c,
                        literal(weights.w[l], rows[r], rows[r + 1], columns[c], columns[c + 1]));
    }
    text += fmt::format(
        "CREATE TABLE W_FIRST_{0} (ROW INT, COL INT, MAT MATRIX[{1}][{2}]);\n"
        "CREATE TABLE B_FIRST_{0} (COL INT, VEC VECTOR[{2}]);\n"
        "INSERT INTO W_FIRST_{0} VALUES {3};\nINSERT INTO B_FIRST_{0} VALUES {4};\n",
        l, rows[1], columns[1], w_rows, b_rows);
  }
  return text;
}

std::string pass_statements(const Network& network) {
  const int last = network.layers();
  std::string first;
  for (int l = 1; l <= last; ++l)
    first += fmt::format(
        "CREATE TABLE W[0][{0}] (ROW, COL, MAT) AS SELECT * FROM W_FIRST_{0};\n"
        "CREATE TABLE B[0][{0}] (COL, VEC) AS SELECT * FROM B_FIRST_{0};\n",
        l);
  return first + fmt::format(R"(
CREATE TABLE A[i:0...][j:0] (COL, ACT) AS
SELECT DI.COL, DI.VAL
FROM DATA_INPUT AS DI;

CREATE TABLE WI[i:0...][j:1...{last}] (COL, VAL) AS
SELECT W.COL, SUM(matmul(A.ACT, W.MAT))
FROM W[i][j] AS w, A[i][j-1] AS A
WHERE W.ROW = A.COL
GROUP BY W.COL;

CREATE TABLE A[i:0...][j:1...{hidden}] (COL, ACT) AS
SELECT WI.COL, relu(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;

CREATE TABLE A[i:0...][j:{last}] (COL, ACT) AS
SELECT WI.COL, softmax(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;

CREATE TABLE E[i:0...][j:{last}] (COL, ERR) AS
SELECT A.COL, crossentropyderiv(A.ACT, DO.VAL)
FROM A[i][j] AS A, DATA_OUTPUT AS DO;

CREATE TABLE E[i:0...][j:1...{hidden}] (COL, ERR) AS
SELECT W.ROW, SUM(matmul(E.ERR, t(W.MAT))
                * reluderiv(A.ACT))
FROM A[i][j] AS A, E[i][j+1] AS E,
     W[i][j+1] AS W
WHERE A.COL = W.ROW AND W.COL = E.COL
GROUP BY W.ROW;

CREATE TABLE W[i:1...][j:1...{last}] (ROW, COL, MAT) AS
SELECT W.ROW, W.COL,
       W.MAT - matmul(t(A.ACT), E.ERR) * {rate}
FROM W[i-1][j] AS W, E[i-1][j] AS E,
     A[i-1][j-1] AS A
WHERE A.COL = W.ROW AND W.COL = E.COL;

CREATE TABLE B[i:1...][j:1...{last}] (COL, VEC) AS
SELECT B.COL,
       B.VEC - reducebyrow(E.ERR) * {rate}
FROM B[i-1][j] AS B, E[i-1][j] AS E
WHERE B.COL = E.COL;
)",
                             fmt::arg("last", last), fmt::arg("hidden", last - 1),
                             fmt::arg("rate", fmt::format("{:.8f}", network.rate)));
}

}  // namespace tessera::testing
