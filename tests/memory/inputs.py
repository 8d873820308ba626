"""What the statements of the campaign read: files in a folder, and a database made of them."""
import pathlib
import subprocess
import sys

import numpy as np


def write_files(folder):
    random = np.random.default_rng(1)
    np.save(folder / "square.npy", random.random((2000, 2000)))
    np.save(folder / "definite.npy", np.eye(1500) * 3 + random.random((1500, 1500)) / 3000)
    np.save(folder / "wide.npy", random.random((200, 50000)))
    np.save(folder / "line.npy", random.random(3_000_000))
    np.save(folder / "vector.npy", random.random(20_000))
    np.save(folder / "cube.npy", random.random((150, 150, 150)))
    np.save(folder / "image.npy", random.random((4, 700, 700)))
    np.save(folder / "marks.npy", random.random((6000, 6000)) < 0.5)
    np.save(folder / "counts.npy", random.integers(0, 9, (2000, 2000)))
    np.save(folder / "tiny.npy", random.random((250, 250)))
    np.savez(folder / "several.npz", a=random.random((2000, 1000)), b=random.random((2000, 1000)))
    (folder / "raw.bin").write_bytes(random.random((3000, 1500)).tobytes())

    def matrix_market(name, rows, columns, entries):
        lines = [f"{i} {j} {x}" for i, j, x in entries]
        head = f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {len(lines)}\n"
        (folder / name).write_text(head + "\n".join(lines) + "\n")

    far = 10**9
    matrix_market("far.mtx", far, far, [(far, far, 2.5)])
    some = sorted(set(zip(random.integers(1, far, 2000).tolist(), random.integers(1, far, 2000).tolist())))
    matrix_market("scattered.mtx", far, far, [(i, j, 1.5) for i, j in some])
    n = 12_000
    spread = sorted(set(zip(random.integers(1, n + 1, 300_000).tolist(), random.integers(1, n + 1, 300_000).tolist())))
    matrix_market("sparse.mtx", n, n, [(i, j, 0.5) for i, j in spread])
    matrix_market("column.mtx", n, n, [(i, 7, 1.0) for i in range(1, n + 1)])
    matrix_market("row.mtx", n, n, [(7, j, 1.0) for j in range(1, n + 1)])

    with open(folder / "rows.csv", "w") as out:
        out.write("id,name,x\n")
        for i in range(150_000):
            out.write(f"{i},name {i % 5000},{i * 0.25}\n")
    with open(folder / "numbers.csv", "w") as out:
        for i in range(60_000):
            out.write(",".join(str(i + j) for j in range(20)) + "\n")
    with open(folder / "one_line.csv", "w") as out:
        out.write(",".join(["1.25"] * 4_000_000) + "\n")
    with open(folder / "long_text.csv", "w") as out:
        out.write("id,name,x\n1," + "a" * 40_000_000 + ",2\n")
    with open(folder / "points.svm", "w") as out:
        for i in range(40_000):
            out.write(f"{i % 2} " + " ".join(f"{j + 1}:{j}.5" for j in range(i % 7, 60, 5)) + "\n")
    with open(folder / "triples.txt", "w") as out:
        for i in range(400_000):
            out.write(f"{i * 7 % 100_000} {i * 13 % 100_000} 1.5\n")
    values = ", ".join(f"({i}, 'text {i}', {i}.5)" for i in range(100_000))
    (folder / "insert.sql").write_text(f"INSERT INTO few VALUES {values};\n")
    numbers = ", ".join(str(i / 8) for i in range(1_000_000))
    (folder / "literal.sql").write_text(f"SELECT sum_elements([{numbers}]);\n")


STATEMENTS = """
CREATE TENSOR square FROM '{0}/square.npy' TILE [500][500];
CREATE TENSOR whole FROM '{0}/square.npy' TILE [2000][2000];
CREATE TENSOR definite FROM '{0}/definite.npy' TILE [1500][1500];
CREATE TENSOR wide FROM '{0}/wide.npy' TILE [200][50000];
CREATE TENSOR line FROM '{0}/line.npy' TILE [3000000];
CREATE TENSOR vector FROM '{0}/vector.npy' TILE [20000];
CREATE TENSOR cube FROM '{0}/cube.npy' TILE [150][150][150];
CREATE TENSOR image FROM '{0}/image.npy' TILE [4][700][700];
CREATE TENSOR marks FROM '{0}/marks.npy' TILE [6000][6000];
CREATE TENSOR counts FROM '{0}/counts.npy' TILE [2000][2000];
CREATE TENSOR tiny FROM '{0}/tiny.npy' TILE [1][1];
CREATE TENSOR far FROM '{0}/far.mtx' TILE [1000000000][1000000000];
CREATE TENSOR scattered FROM '{0}/scattered.mtx' TILE [1000000000][1000000000];
CREATE TENSOR sparse FROM '{0}/sparse.mtx' TILE [12000][12000];
CREATE TENSOR sparse_tiles FROM '{0}/sparse.mtx' TILE [1000][1000];
CREATE TENSOR one_column FROM '{0}/column.mtx' TILE [12000][12000];
CREATE TENSOR one_row FROM '{0}/row.mtx' TILE [12000][12000];
CREATE TENSOR virtual_one [40000][40000] TILE [100][100] VIRTUAL;
CREATE TABLE people (id INT, name TEXT, x DOUBLE);
COPY people FROM '{0}/rows.csv';
CREATE TABLE few (id INT, name TEXT, x DOUBLE);
CREATE TABLE step[0] (n) AS SELECT 1;
CREATE TABLE step[i:1...] (n) AS SELECT n + 1 AS n FROM step[i - 1];
"""


def make(program, folder):
    write_files(folder)
    for statement in STATEMENTS.format(folder).strip().split(";\n"):
        done = subprocess.run([program, folder / "db", "-c", statement], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(statement, done.stderr, file=sys.stderr)
            sys.exit(1)


if __name__ == "__main__":
    make(sys.argv[1], pathlib.Path(sys.argv[2]))
