#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/network.h"

// Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019): the loop of figure 2, in
// which the program says what is computed when, and tables carry the state. It learns what the
// rules of section 3.2 learn.

namespace tessera::testing {
namespace {

/// Tables that hold all layers of all iterations, as section 2.3 has them.
std::string tables_of_the_loop(const Network& network) {
  std::string text =
      fmt::format(R"(
CREATE TABLE W (ITER INT, LAYER INT, ROW INT, COL INT, MAT MATRIX[{extent}][{extent}]);
CREATE TABLE B (ITER INT, LAYER INT, COL INT, VEC VECTOR[{extent}]);
CREATE TABLE A (ITER INT, LAYER INT, COL INT, ACT MATRIX[{batch}][{extent}]);
)",
                  fmt::arg("extent", network.tile), fmt::arg("batch", network.batch));
  for (int l = 1; l <= network.layers(); ++l)
    text += fmt::format(
        "INSERT INTO W SELECT 0, {0}, ROW, COL, MAT FROM W_FIRST_{0};\n"
        "INSERT INTO B SELECT 0, {0}, COL, VEC FROM B_FIRST_{0};\n",
        l);
  return text;
}

/// A text in which the variables of the program are replaced by their values.
template <class... Values>
std::string with(const char* text, const Values&... values) {
  return fmt::format(fmt::runtime(text), values...);
}

/// The figure begins after the forward pass, which it does not show.
void forward_pass(Session& session, const Network& network, int i) {
  session.execute(with("INSERT INTO A SELECT {i}, 0, COL, VAL FROM DATA_INPUT", fmt::arg("i", i)));
  for (int l = 1; l <= network.layers(); ++l)
    session.execute(with(R"(
INSERT INTO A
SELECT {i}, {l}, WI.COL, {activation}(WI.VAL + B.VEC)
FROM (SELECT W.COL AS COL, SUM(matmul(A.ACT, W.MAT)) AS VAL
      FROM W, A
      WHERE W.ROW = A.COL AND W.LAYER={l} AND A.LAYER={l}-1
      AND W.ITER={i} AND A.ITER={i}
      GROUP BY W.COL) AS WI, B
WHERE WI.COL = B.COL AND B.LAYER={l} AND B.ITER={i})",
                         fmt::arg("i", i), fmt::arg("l", l),
                         fmt::arg("activation", l == network.layers() ? "softmax" : "relu")));
}

/// Figure 2, with INSERT INTO for BULK COLLECT INTO; with A.ITER=i in the query inside the first
/// one, which it lacks there; and without a semicolon in the middle of its last condition.
void backward_pass(Session& session, const Network& network, int i) {
  const int last = network.layers();
  const std::string rate = fmt::format("{:.8f}", network.rate);
  session.execute(fmt::format(
      "CREATE TABLE AEW (LAYER INT, ROW INT, COL INT, ACT MATRIX[{0}][{1}], ERR MATRIX[{0}][{1}],"
      " MAT MATRIX[{1}][{1}])",
      network.batch, network.tile));
  session.execute(with(R"(
--First, issue a query that computes the errors
--being backpropagated from the top layer in
--the network.
INSERT INTO AEW
SELECT {last}, W.ROW, W.COL, A.ACT, E.ERR, W.MAT
FROM A, W,
--Note: we are using cross-entropy loss
(SELECT A.COL,
  crossentropyderiv(A.ACT, DO.VAL) AS ERR
FROM A, DATA_OUTPUT AS DO
WHERE A.LAYER={last} AND A.ITER={i}) AS E
WHERE A.COL=W.ROW AND W.COL=E.COL
AND A.LAYER={last}-1 AND W.LAYER={last}
AND A.ITER={i} AND W.ITER={i};
)",
                       fmt::arg("last", last), fmt::arg("i", i)));
  const auto update_weights = [&](int l) {
    session.execute(with(R"(
--Use the errors to compute the new weights
--connecting layer l to layer l + 1; add to
--result for learning iteration i + 1
INSERT INTO W
SELECT {i}+1, {l}, ROW, COL,
  MAT - matmul(t(ACT), ERR) * {rate}
FROM AEW WHERE LAYER={l};
)",
                         fmt::arg("i", i), fmt::arg("l", l), fmt::arg("rate", rate)));
    // The figure leaves the biases out. Every tile of errors is there once for each row of weights.
    session.execute(with(R"(
INSERT INTO B
SELECT {i}+1, {l}, B.COL, B.VEC - reducebyrow(AEW.ERR) * {rate}
FROM B, AEW
WHERE B.COL=AEW.COL AND AEW.ROW=0 AND AEW.LAYER={l} AND B.LAYER={l} AND B.ITER={i};
)",
                         fmt::arg("i", i), fmt::arg("l", l), fmt::arg("rate", rate)));
  };
  for (int l = last; l >= 2; --l) {
    update_weights(l);
    session.execute(with(R"(
--Issue a new query that uses the errors from the
--previous layer to compute the errors in this
--layer. reluderiv takes the derivative of the
--activation.
INSERT INTO AEW
SELECT {l}-1, W.ROW, W.COL, A.ACT, E.ERR, W.MAT
FROM A, W,
(SELECT ROW AS COL,
  SUM(matmul(ERR, t(MAT))
  * reluderiv(ACT)) AS ERR
FROM AEW WHERE LAYER={l}
GROUP BY ROW) AS E
WHERE A.COL=W.ROW AND W.COL=E.COL
AND A.LAYER={l}-2 AND W.LAYER={l}-1
AND A.ITER={i} AND W.ITER={i};
)",
                         fmt::arg("i", i), fmt::arg("l", l)));
  }
  update_weights(1);
  session.execute("DROP TABLE AEW");
}

void expect_loop_learns_as_rules_do(const Network& network, int iterations) {
  Session loop(Database::temporary());
  loop.execute(data_statements(network));
  loop.execute(tables_of_the_loop(network));
  for (int i = 0; i < iterations; ++i) {
    forward_pass(loop, network, i);
    backward_pass(loop, network, i);
  }
  Session rules(Database::temporary());
  rules.execute(data_statements(network));
  rules.execute(pass_statements(network));
  const std::vector<StatementResult> expected =
      rules.execute(fmt::format("EXECUTE (FOR j IN 1...{}: SELECT ROW, COL, MAT FROM W[{}][j])",
                                network.layers(), iterations));
  for (int l = 1; l <= network.layers(); ++l) {
    const auto rows = cuts(network, l - 1), columns = cuts(network, l);
    const ResultTable found = loop.query(
        fmt::format("SELECT ROW, COL, MAT FROM W WHERE ITER={} AND LAYER={}", iterations, l));
    expect_near(put_together(found, rows, columns),
                put_together(*expected[l - 1].table, rows, columns), 1e-12,
                fmt::format("layer {}, tiles of {}", l, network.tile));
  }
}

TEST(ImperativeLoop, LearnsWhatTheRulesLearn) {
  // Tiles that divide the layers, and tiles that do not. The last layer is a whole one, as a table
  // of all layers has one bound for its tiles.
  for (const int tile : {4, 5})
    expect_loop_learns_as_rules_do({{8, 8, 4, 8, 8, 4, 4, 8, 8, tile}, 5, tile, 0.05}, 2);
}

}  // namespace
}  // namespace tessera::testing
