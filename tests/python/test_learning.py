"""Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019), section 3.2: nine layers learn in SQL,
as printed there, what they learn in NumPy."""
import csv
import io
import json

import numpy as np
import pytest

from test_frames import literal, run

LAYERS, ITERATIONS, BATCH = 9, 5, 6
SIZES = [8, 8, 4, 12, 8, 4, 8, 12, 8, 3]
PASSES = """
CREATE TABLE A[i:0...][j:0] (COL, ACT) AS
SELECT DI.COL, DI.VAL
FROM DATA_INPUT AS DI;

CREATE TABLE WI[i:0...][j:1...9] (COL, VAL) AS
SELECT W.COL, SUM(matmul(A.ACT, W.MAT))
FROM W[i][j] AS w, A[i][j-1] AS A
WHERE W.ROW = A.COL
GROUP BY W.COL;

CREATE TABLE A[i:0...][j:1...8] (COL, ACT) AS
SELECT WI.COL, relu(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;

CREATE TABLE A[i:0...][j:9] (COL, ACT) AS
SELECT WI.COL, softmax(WI.VAL + B.VEC)
FROM WI[i][j] AS WI, B[i][j] AS B
WHERE WI.COL = B.COL;

CREATE TABLE E[i:0...][j:9] (COL, ERR) AS
SELECT A.COL, crossentropyderiv(A.ACT, DO.VAL)
FROM A[i][j] AS A, DATA_OUTPUT AS DO;

CREATE TABLE E[i:0...][j:1...8] (COL, ERR) AS
SELECT W.ROW, SUM(matmul(E.ERR, t(W.MAT))
                * reluderiv(A.ACT))
FROM A[i][j] AS A, E[i][j+1] AS E,
     W[i][j+1] AS W
WHERE A.COL = W.ROW AND W.COL = E.COL
GROUP BY W.ROW;

CREATE TABLE W[i:1...][j:1...9] (ROW, COL, MAT) AS
SELECT W.ROW, W.COL,
       W.MAT - matmul(t(A.ACT), E.ERR) * 0.00000001
FROM W[i-1][j] AS W, E[i-1][j] AS E,
     A[i-1][j-1] AS A
WHERE A.COL = W.ROW AND W.COL = E.COL;

CREATE TABLE B[i:1...][j:1...9] (COL, VEC) AS
SELECT B.COL,
       B.VEC - reducebyrow(E.ERR) * 0.00000001
FROM B[i-1][j] AS B, E[i-1][j] AS E
WHERE B.COL = E.COL;
"""


def blocks(size, tile):
    return [slice(at, min(at + tile, size)) for at in range(0, size, tile)]


def tables(data, output, weights, biases, tile):
    """Statements for what is given: each layer is cut into tiles, but the last one, for softmax."""
    cuts = [blocks(size, tile) for size in SIZES[:-1]] + [blocks(SIZES[-1], SIZES[-1])]
    wide = [min(tile, size) for size in SIZES[:-1]] + [SIZES[-1]]

    def table(name, columns, rows):
        return f"CREATE TABLE {name} ({columns}); INSERT INTO {name} VALUES {', '.join(rows)};\n"

    def by_columns(name, matrix, layer):
        return table(name, f"COL INT, VAL MATRIX[{BATCH}][{wide[layer]}]",
                     [f"({n}, {literal(matrix[:, c])})" for n, c in enumerate(cuts[layer])])

    text = by_columns("DATA_INPUT", data, 0) + by_columns("DATA_OUTPUT", output, LAYERS)
    for j in range(1, LAYERS + 1):
        text += table(f"W_{j}", f"ROW INT, COL INT, MAT MATRIX[{wide[j - 1]}][{wide[j]}]",
                      [f"({m}, {n}, {literal(weights[j][r, c])})" for m, r in enumerate(cuts[j - 1])
                       for n, c in enumerate(cuts[j])])
        text += table(f"B_{j}", f"COL INT, VEC VECTOR[{wide[j]}]",
                      [f"({n}, {literal(biases[j][None, c])[1:-1]})" for n, c in enumerate(cuts[j])])
        text += f"CREATE TABLE W[0][{j}] (ROW, COL, MAT) AS SELECT * FROM W_{j};\n"
        text += f"CREATE TABLE B[0][{j}] (COL, VEC) AS SELECT * FROM B_{j};\n"
    return text, cuts


def trained(data, output, weights, biases, rate):
    weights, biases = dict(weights), dict(biases)
    for _ in range(ITERATIONS):
        acts = [data]
        for j in range(1, LAYERS + 1):
            sums = acts[-1] @ weights[j] + biases[j]
            powers = np.exp(sums - sums.max(axis=1, keepdims=True))
            acts.append(np.maximum(sums, 0) if j < LAYERS else powers / powers.sum(axis=1, keepdims=True))
        error = {LAYERS: acts[LAYERS] - output}
        for j in range(LAYERS - 1, 0, -1):
            error[j] = (error[j + 1] @ weights[j + 1].T) * (acts[j] > 0)
        for j in range(1, LAYERS + 1):
            weights[j] = weights[j] - rate * acts[j - 1].T @ error[j]
            biases[j] = biases[j] - rate * error[j].sum(axis=0)
    return weights, biases


def results(database, query):
    """The tables that a query yields for every layer, each as rows of integers and one tensor at the end."""
    text = run(database, f"EXECUTE (FOR j IN 1...{LAYERS}: {query})")
    found = []
    for row in csv.reader(io.StringIO(text)):
        if row[-1] in ("MAT", "VEC"):
            found.append([])
        else:
            found[-1].append((*map(int, row[:-1]), json.loads(row[-1])))
    assert len(found) == LAYERS
    return dict(enumerate(found, 1))


@pytest.mark.parametrize("tile", [4, 5], ids=["tiles_that_divide_the_layers", "tiles_that_do_not"])
def test_nine_layers_learn_what_they_learn_in_numpy(tmp_path, tile):
    random = np.random.default_rng(3)
    data = random.normal(size=(BATCH, SIZES[0]))
    output = np.eye(SIZES[-1])[np.arange(BATCH) % SIZES[-1]]
    weights = {j: random.normal(size=(SIZES[j - 1], SIZES[j])) / 2 for j in range(1, LAYERS + 1)}
    biases = {j: random.normal(size=SIZES[j]) / 4 for j in range(1, LAYERS + 1)}
    statements, cuts = tables(data, output, weights, biases, tile)
    # At the rate that is printed nothing would be seen to have changed.
    rate = 0.05
    database = tmp_path / "lab.tsdb"
    run(database, statements, PASSES.replace("0.00000001", str(rate)))
    expected_weights, expected_biases = trained(data, output, weights, biases, rate)
    found_weights = results(database, f"SELECT ROW, COL, MAT FROM W[{ITERATIONS}][j]")
    found_biases = results(database, f"SELECT COL, VEC FROM B[{ITERATIONS}][j]")
    for j in range(1, LAYERS + 1):
        assert np.abs(expected_weights[j] - weights[j]).max() > 1e-3
        found = np.full_like(weights[j], np.nan)
        for row, column, tile_of_both in found_weights[j]:
            found[cuts[j - 1][row], cuts[j][column]] = tile_of_both
        assert np.abs(found - expected_weights[j]).max() < 1e-5
        found = np.full_like(biases[j], np.nan)
        for column, vector in found_biases[j]:
            found[cuts[j][column]] = vector
        assert np.abs(found - expected_biases[j]).max() < 1e-5
