"""SELECT of whole tensors and constructors from Python, compared with NumPy."""
import json
import pathlib
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
import tessera as ts

PROGRAM = pathlib.Path(ts.__file__).resolve().parent.parent.parent / "tessera"


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def value(db, expression):
    (row,) = db.sql("SELECT " + expression)
    (one,) = row
    return one


def test_tensors_are_arrays_and_numbers_are_numbers(db):
    a = np.arange(12.0).reshape(3, 4)
    db.sql("CREATE TENSOR A TILE [2][3] AS ?", [a])
    result = db.sql("SELECT A @ A.T AS gram, sum(A), max(A, axes = [0])")
    assert result.columns == ["gram", "sum", "max"] and result.types == ["MATRIX[3][3]", "DOUBLE", "VECTOR[4]"]
    (gram, total, most), = result
    assert np.array_equal(gram, a @ a.T) and total == a.sum() and np.array_equal(most, a.max(axis=0))
    assert isinstance(total, float)


def test_a_result_prints_as_numpy_does(db):
    a = np.arange(12.0).reshape(3, 4)
    db.sql("CREATE TENSOR A TILE [2][3] AS ?", [a])
    assert str(db.sql("SELECT A")) == "f64[3x4], dense\n" + str(a)
    assert str(db.sql("SELECT A AS a, sum(A)")) == "a: f64[3x4], dense\n" + str(a) + "\nsum: 66"
    for shape in [(1001,), (40, 50), (3, 7, 60), (1000, 2), (4, 4, 4, 20)]:
        expected = np.arange(float(np.prod(shape))).reshape(shape)
        db.sql("CREATE OR REPLACE TENSOR A AS ?", [expected])
        db.sql(f"CREATE OR REPLACE TENSOR B TILE {''.join(f'[{n}]' for n in np.minimum(shape, 5))} AS A")
        kind = f"f64[{'x'.join(map(str, shape))}], dense\n"
        assert str(db.sql("SELECT A")) == str(db.sql("SELECT B")) == kind + str(expected)


def test_sparse_tensors(db):
    matrix = scipy.sparse.random(50, 40, 0.05, random_state=np.random.default_rng(1), format="csr")
    db.sql("CREATE TENSOR D AS ?", [matrix.toarray()])
    db.sql("CREATE TENSOR S TILE [20][20] AS tensor(50)(40)[ ((i, j), v) | ((i, j), v) <- D, v > 0 ]")
    assert str(db.sql("SELECT S")).startswith(f"f64[50x40], sparse, {matrix.nnz} nonzeros\n[[")
    assert str(db.sql("SELECT S.T * 2")).startswith(f"f64[40x50], sparse, {matrix.nnz} nonzeros\n[[")
    assert np.array_equal(value(db, "S").dense().numpy(), matrix.toarray())
    assert ("tile", "MATRIX[20][20]", f"f64[50x40], sparse, {matrix.nnz} nonzeros") in db.sql("DESCRIBE S").fetchall()


def test_sparse_tensors_are_put_together_without_their_zeros(db, tmp_path):
    matrix = scipy.sparse.random(200_000, 200_000, 1e-7, random_state=np.random.default_rng(1), format="csr")
    scipy.io.mmwrite(str(tmp_path / "x.mtx"), matrix)
    db.sql(f"CREATE TENSOR X FROM '{tmp_path}/x.mtx' TILE [30000][70000]")
    for expression, expected in [("X", matrix), ("X + X.T", matrix + matrix.T)]:
        made = scipy.sparse.csr_matrix(value(db, expression).scipy())
        assert made.shape == expected.shape and made.nnz == expected.nnz and abs(made - expected).max() < 1e-12
    small = scipy.sparse.random(7, 9, 0.4, random_state=np.random.default_rng(2), format="csr")
    scipy.io.mmwrite(str(tmp_path / "y.mtx"), small)
    db.sql(f"CREATE TENSOR Y FROM '{tmp_path}/y.mtx' TILE [2][4]")
    assert np.allclose(value(db, "Y.T").dense().numpy(), small.toarray().T)


def test_large_results_are_read_tile_by_tile(db):
    session = db.session(memory_limit="64MB")
    result = session.sql("SELECT zeros(40000, 1000) + arange(1000) AS large, ones(2, 2)")  # 320 MB
    assert str(result).startswith("large: f64[40000x1000], dense\n[[  0.   1.   2. ... 997. 998. 999.]")
    with pytest.raises(ts.OutOfMemory, match="does not fit the memory limit of"):
        result[0]
    small = session.sql("SELECT zeros(2000, 1000) + arange(1000)")  # on disk too, but it can be read
    del session
    assert np.array_equal(small[0][0], np.zeros((2000, 1000)) + np.arange(1000))


@pytest.mark.parametrize("call, expected", [
    ("zeros(3, 4)", np.zeros((3, 4))), ("zeros(5, dtype = 'f32')", np.zeros(5, np.float32)),
    ("ones(2, 3, 4)", np.ones((2, 3, 4))), ("ones(2, dtype = 'i64')", np.ones(2, np.int64)),
    ("full(2, 3, value = 7)", np.full((2, 3), 7)), ("full(2, 3, value = 0.1, dtype = 'f32')", np.full((2, 3), 0.1, np.float32)),
    ("full(4, value = true)", np.full(4, True)), ("eye(2000)", np.eye(2000)), ("eye(3, 5)", np.eye(3, 5)), ("eye(5, 3)", np.eye(5, 3)),
    ("arange(7)", np.arange(7)), ("arange(-3, 10, 4)", np.arange(-3, 10, 4)), ("arange(10, -3, -4)", np.arange(10, -3, -4)),
    ("arange(0, 1, 0.1)", np.arange(0, 1, 0.1)), ("arange(1.5, -7, -0.3)", np.arange(1.5, -7, -0.3)), ("arange(3000000)", np.arange(3000000)),
    ("arange(0.1, 200000)", np.arange(0.1, 200000)), ("arange(5, 5)", np.arange(5, 5)),
    ("linspace(0, 1, 7)", np.linspace(0, 1, 7)), ("linspace(-0.3, 7.7, 100001)", np.linspace(-0.3, 7.7, 100001)),
    ("linspace(3, 4, 1)", np.linspace(3, 4, 1)), ("linspace(2, 2, 5)", np.linspace(2, 2, 5)), ("linspace(0, 1, 0)", np.linspace(0, 1, 0)),
    ("linspace(0, 1, 10, dtype = 'f32')", np.linspace(0, 1, 10, dtype=np.float32)),
    ("diag(arange(4))", np.diag(np.arange(4))), ("diag(ones(3, 3) * arange(3))", np.arange(3.0)), ("diag(ones(2, 3))", np.ones(2)),
    ("diag(linspace(0, 1, 2500))", np.diag(np.linspace(0, 1, 2500))),
])
def test_constructors_make_what_numpy_makes(db, call, expected):
    made = value(db, call)
    assert made.dtype == expected.dtype and made.shape == expected.shape and np.array_equal(made, expected)


def test_random_numbers_have_their_moments(db):
    uniform = value(db, "random_uniform(1000, 1000, seed = 1)")
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 1e-3 and abs(uniform.var() - 1 / 12) < 1e-3
    normal = value(db, "random_normal(1000, 1000, seed = 1)")
    assert abs(normal.mean()) < 4e-3 and abs(normal.var() - 1) < 1e-2
    assert abs((normal ** 3).mean()) < 1e-2 and abs((normal ** 4).mean() - 3) < 5e-2
    scaled = value(db, "random_normal(1000, 1000, seed = 1, mean = 5, stddev = 0.1)")
    assert np.allclose(scaled, 5 + 0.1 * normal, atol=1e-12)
    for numbers in (uniform, normal):  # neighbours, and rows, have nothing to do with each other
        assert abs(np.corrcoef(numbers[:, 1:].ravel(), numbers[:, :-1].ravel())[0, 1]) < 5e-3
        assert abs(np.corrcoef(numbers[1:].ravel(), numbers[:-1].ravel())[0, 1]) < 5e-3
        assert len(np.unique(numbers)) > 999_990


def test_random_numbers_of_two_seeds_differ(db):
    all_numbers = np.concatenate([value(db, f"random_uniform(50000, seed = {seed})") for seed in (0, 1, 2, -1, 2 ** 40)])
    assert len(np.unique(all_numbers)) == len(all_numbers)


def test_random_numbers_do_not_depend_on_tiles_sites_and_threads(db):
    expression = "random_normal(700, 900, seed = 7) + random_uniform(700, 900, seed = 7, low = -1)"
    expected = value(db, expression)
    for options in [dict(threads=1), dict(threads=8), dict(sites=4), dict(optimize=False)]:
        session = db.session(**options)
        session.sql(f"CREATE OR REPLACE TENSOR R TILE [33][101] AS {expression}")
        assert np.array_equal(session.sql("SELECT R")[0][0], expected)
    row = value(db, "slice(random_uniform(3, 5, seed = 2), begin = [2, 0], end = [3, 5])")
    assert np.array_equal(row.ravel(), value(db, "random_uniform(15, seed = 2)")[10:])


def test_formats_of_the_shell():
    def said(mode, statement):
        run = subprocess.run([str(PROGRAM), "--format", mode, "-c", statement], stdout=subprocess.PIPE, text=True, check=True)
        return run.stdout
    statement = "SELECT eye(2) + 1 AS c, sum(ones(2, 2))"
    assert json.loads(said("json", statement)) == [{"c": [[2, 1], [1, 2]], "sum": 4}]
    assert said("csv", statement) == 'c,sum\n"[[2.0,1.0],[1.0,2.0]]",4\n'
    assert said("table", statement) == "c: f64[2x2], dense\n[[2. 1.]\n [1. 2.]]\nsum: 4\n"
    assert said("line", statement) == "  c = MATRIX[2][2]\n[[2. 1.]\n [1. 2.]]\nsum = 4\n"
