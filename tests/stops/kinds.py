"""The kinds of statement that are stopped, and the data they work on."""
import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    statement: str           # {folder} is where files are
    makes: str = ""          # a table or tensor that must be whole or absent afterwards
    settings: str = ""       # statements before it that are not stopped
    lasts: float = 20.0      # seconds, at most, after which it is stopped


def kinds(scale):
    """All of them. `scale` multiplies how long they take, roughly."""
    many = max(1, int(20 * scale))  # factors of a chain, operands of a sum
    return [
        # Kernels inside of one large tile.
        Kind("product of one tile", "CREATE TENSOR made AS D @ D @ D", "made"),
        Kind("product of f32", "CREATE TENSOR made AS F @ F @ F @ F", "made"),
        Kind("product of integers", "CREATE TENSOR made AS I @ I", "made"),
        Kind("product of many tiles", "CREATE TENSOR made AS T @ T @ T", "made"),
        Kind("elements", "CREATE TENSOR made AS " + " + ".join(f"exp(tanh(V * {i}.5))" for i in range(many)), "made"),
        Kind("reduction", "CREATE TENSOR made AS " + " + ".join(f"sum(V * {i}.5)" for i in range(many)), "made"),
        Kind("reduction across", "CREATE TENSOR made AS " + " + ".join(f"max(D + {i}, axes = [0])" for i in range(4 * many)),
             "made"),
        Kind("softmax", "CREATE TENSOR made AS " + " + ".join(f"softmax(D * {i})" for i in range(many)), "made"),
        Kind("transpose", "CREATE TENSOR made AS " + " + ".join(f"(D * {i}).T" for i in range(many)), "made"),
        Kind("repetition", "SELECT sum_elements(tile(tile, repeats = [60])) FROM W"),
        Kind("convolution", "SELECT sum_elements(conv(tile, tile, padding = 0)) FROM C"),
        Kind("convolution of f32", "SELECT sum_elements(conv(i.tile, w.tile, padding = 1)) FROM Images AS i, Filters AS w"),
        Kind("sparse product", "CREATE TENSOR made AS S @ R", "made"),
        Kind("sparse times dense", "CREATE TENSOR made AS S @ E", "made"),
        Kind("contraction", "CREATE TENSOR made AS einsum('ij,kj->ik', D, D)", "made"),
        Kind("cholesky", "SELECT sum_elements(cholesky(tile)) FROM Positive"),
        Kind("inverse", "SELECT sum_elements(inverse(tile)) FROM D"),
        Kind("solve", "SELECT sum_elements(solve(tile, tile)) FROM D"),
        Kind("qr", "SELECT sum_elements(qr(tile)) FROM D"),
        Kind("svd", "SELECT sum_elements(svd(tile)) FROM Middle"),
        Kind("eigh", "SELECT sum_elements(eigh(tile)) FROM Middle"),
        # Rows.
        Kind("join of rows", "SELECT COUNT(*) FROM people AS a, people AS b WHERE a.height < b.height"),
        Kind("sort of rows", "SELECT id, name, height FROM people ORDER BY height, name"),
        Kind("distinct rows", "SELECT DISTINCT height, name FROM people"),
        Kind("groups of rows", "SELECT name, COUNT(*), SUM(height) FROM people GROUP BY name"),
        Kind("rows to a table", "CREATE TABLE made AS SELECT id * 2 AS id, name, height + 0.5 AS height FROM people "
             "WHERE height > 0.01", "made"),
        Kind("copy from csv", "COPY empty FROM '{folder}/rows.csv'", "empty"),
        Kind("copy to csv", "COPY people TO '{folder}/out.csv'"),
        Kind("many values", "INSERT INTO empty VALUES " + ", ".join(f"({i}, 'name {i}', {i}.5)" for i in range(int(60000 * scale))),
             "empty"),
        # Files.
        Kind("tensor from csv", "CREATE TENSOR made FROM '{folder}/numbers.csv'", "made"),
        Kind("tensor from one line", "CREATE TENSOR made FROM '{folder}/line.csv'", "made"),
        Kind("tensor from mtx", "CREATE TENSOR made FROM '{folder}/entries.mtx'", "made"),
        Kind("tensor from npy", "CREATE TENSOR made FROM '{folder}/dense.npy' TILE [300][300]", "made"),
        Kind("tensor to csv", "COPY T TO '{folder}/out.csv' WITH (format = csv)"),
        Kind("tensor to npz", "COPY T TO '{folder}/out.npz'"),
        Kind("sparse tensor to mtx", "COPY S TO '{folder}/out.mtx'"),
        # Planning, versions, the database itself.
        Kind("planning", "EXPLAIN (SITES 64) CREATE TENSOR Q AS P @ P @ P @ P @ P @ P"),
        Kind("planning many tiles", "EXPLAIN CREATE TENSOR Q AS Fine @ Fine"),
        Kind("versions", "SELECT v FROM x[60000]"),
        Kind("out of memory's reach", "CREATE TENSOR made AS T @ T", "made", "SET memory_limit = '64MB'"),
        Kind("vacuum", "VACUUM"),
        Kind("waiting for a lock", "DROP TABLE locked", "locked", lasts=8),
    ]


def write_files(folder, scale):
    random = np.random.default_rng(1)
    n = int(5000 * scale**(1 / 3)) // 100 * 100
    dense = random.normal(size=(n, n))
    np.save(folder / "dense.npy", dense)
    np.save(folder / "single.npy", dense.astype("f4"))
    np.save(folder / "positive.npy", dense @ dense.T + n * np.eye(n))
    middle = random.normal(size=(n // 2, n // 2))
    np.save(folder / "middle.npy", middle + middle.T)
    np.save(folder / "whole.npy", random.integers(-9, 9, size=(n // 3, n // 3)))
    np.save(folder / "vector.npy", random.normal(size=int(20e6 * scale)))
    np.save(folder / "narrow.npy", random.normal(size=int(2e6 * scale)))
    np.save(folder / "windows.npy", random.normal(size=(64, 64, 40, 40)))
    np.save(folder / "images.npy", random.normal(size=(32, 64, 112, 112)).astype("f4"))
    np.save(folder / "filters.npy", random.normal(size=(128, 64, 3, 3)).astype("f4"))
    rows, columns = int(20000 * scale), 2000
    _write_entries(folder / "left.mtx", rows, columns, 100, random)
    _write_entries(folder / "right.mtx", columns, columns, 1000, random)
    _write_entries(folder / "entries.mtx", 100_000, 100_000, int(20 * scale) + 1, random)
    np.save(folder / "beside.npy", random.normal(size=(columns, 2000)))
    np.savetxt(folder / "numbers.csv", random.normal(size=(int(30000 * scale), 50)), delimiter=",")
    (folder / "line.csv").write_text(",".join(["1.25"] * int(8_000_000 * scale)) + "\n")
    with open(folder / "rows.csv", "w") as file:
        for i in range(int(400_000 * scale)):
            file.write(f"{i},name {i * 7919 % 100_003},{i * 0.25}\n")


def _write_entries(path, rows, columns, each, random):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {rows * each}\n")
        for row in range(rows):
            at = random.choice(columns, each, replace=False)
            file.write("".join(f"{row + 1} {column + 1} 1.5\n" for column in np.sort(at)))


SETUP = """
CREATE TENSOR D FROM '{folder}/dense.npy' TILE [20000][20000];
CREATE TENSOR F FROM '{folder}/single.npy' TILE [20000][20000];
CREATE TENSOR Positive FROM '{folder}/positive.npy' TILE [20000][20000];
CREATE TENSOR Middle FROM '{folder}/middle.npy' TILE [20000][20000];
CREATE TENSOR I FROM '{folder}/whole.npy' TILE [20000][20000];
CREATE TENSOR T FROM '{folder}/dense.npy' TILE [500][500];
CREATE TENSOR V FROM '{folder}/vector.npy' TILE [1000000000];
CREATE TENSOR W FROM '{folder}/narrow.npy' TILE [1000000000];
CREATE TENSOR C FROM '{folder}/windows.npy' TILE [64][64][40][40];
CREATE TENSOR Images FROM '{folder}/images.npy' TILE [64][64][128][128];
CREATE TENSOR Filters FROM '{folder}/filters.npy' TILE [128][64][3][3];
CREATE TENSOR S FROM '{folder}/left.mtx' TILE [1000000][2000];
CREATE TENSOR R FROM '{folder}/right.mtx' TILE [2000][2000];
CREATE TENSOR E FROM '{folder}/beside.npy' TILE [2000][2000];
CREATE TENSOR P [40000][40000] TILE [4000][4000] PARTITION BY (0) VIRTUAL;
CREATE TENSOR Fine [200000][200000] TILE [1000][1000] VIRTUAL;
CREATE TABLE people (id INT, name TEXT, height DOUBLE);
COPY people FROM '{folder}/rows.csv';
CREATE TABLE empty (id INT, name TEXT, height DOUBLE);
CREATE TABLE locked (id INT);
CREATE TABLE x[0] AS SELECT 1.0 AS v;
CREATE TABLE x[i:1...] AS SELECT v + 1 AS v FROM x[i-1];
"""
