"""Text files, with those that NumPy, SciPy and the csv module write as oracles."""
import csv
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import tessera as ts


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def value(db, name):
    return db.read(name).numpy()


def imported(db, path, **options):
    """What is in a file, by any way of reading it."""
    db.import_file("x", path, **options)
    first = value(db, "x")
    db.drop("x")
    for memory, threads in ((0, 1), (1 << 16, 2), (1 << 26, 1)):
        db.import_file("x", path, memory=memory, threads=threads, **options)
        again = value(db, "x")
        db.drop("x")
        assert again.dtype == first.dtype
        np.testing.assert_array_equal(again, first)
    return first


SHAPES = [(1, 1), (1, 17), (17, 1), (301, 5), (40, 1500)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "|"])
def test_savetxt(db, tmp_path, shape, delimiter):
    array = np.random.default_rng(1).normal(size=shape) * 10.0 ** np.arange(-9, shape[1] - 9).clip(-300, 300)
    path = tmp_path / "x.csv"
    np.savetxt(path, array, delimiter=delimiter, header="made by NumPy")
    np.testing.assert_array_equal(imported(db, path), array)
    np.testing.assert_array_equal(imported(db, path, tile=(7, 100)), array)
    np.savetxt(path, np.arange(array.size).reshape(shape), fmt="%d", delimiter=delimiter)
    whole = imported(db, path)
    assert whole.dtype == np.int64
    np.testing.assert_array_equal(whole, np.arange(array.size).reshape(shape))


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_module(db, tmp_path, quoting, end):
    rows = [["a, b", 'say "c"', "d"], [1, -2.5, 3e100], [4, "", float("inf")]]
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator=end).writerows(rows)
    path = tmp_path / "x.csv"
    path.write_bytes(text.getvalue().encode())
    np.testing.assert_array_equal(imported(db, path), [[1, -2.5, 3e100], [4, np.nan, np.inf]])
    np.testing.assert_array_equal(imported(db, path, missing=7), [[1, -2.5, 3e100], [4, 7, np.inf]])


def random_sparse(rows, columns, density, dtype, seed=1):
    matrix = sp.random(rows, columns, density, "coo", random_state=seed)
    if dtype == np.float64:
        return matrix
    return sp.coo_matrix((np.rint(matrix.data * 100 + 1).astype(dtype), (matrix.row, matrix.col)), matrix.shape)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (150, 70), (3, 4000)])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_mmwrite_coordinates(db, tmp_path, shape, field):
    matrix = random_sparse(*shape, 0.2, np.int64 if field == "integer" else np.float64)
    path = tmp_path / "x.mtx"
    scipy.io.mmwrite(path, matrix, comment="by SciPy", field=field)
    expected = scipy.io.mmread(path).toarray()
    if field == "pattern":
        expected = expected != 0
    for tile in (None, (13, 11)):
        found = imported(db, path, tile=tile)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == {"real": np.float64, "integer": np.int64, "pattern": np.bool_}[field]


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_mmwrite_symmetric(db, tmp_path, symmetry, dense, field):
    half = random_sparse(37, 37, 0.3, np.int64 if field == "integer" else np.float64).toarray()
    matrix = half + half.T if symmetry == "symmetric" else half - half.T
    path = tmp_path / "x.mtx"
    scipy.io.mmwrite(path, matrix if dense else sp.coo_matrix(matrix), symmetry=symmetry, precision=17)
    text = path.read_text().splitlines()[0]
    assert symmetry in text and ("array" in text) == dense
    for tile in (None, (10, 7)):
        np.testing.assert_array_equal(imported(db, path, tile=tile), matrix)


@pytest.mark.parametrize("shape", SHAPES)
def test_mmwrite_array(db, tmp_path, shape):
    array = np.random.default_rng(2).normal(size=shape)
    path = tmp_path / "x.mtx"
    scipy.io.mmwrite(path, array, precision=17)
    np.testing.assert_array_equal(imported(db, path), array)
    np.testing.assert_array_equal(imported(db, path, tile=(7, 100)), array)


def test_complex_is_refused(db, tmp_path):
    path = tmp_path / "x.mtx"
    scipy.io.mmwrite(path, np.array([[1 + 2j]]))
    with pytest.raises(ts.IoError, match="'complex' is not a supported type of numbers"):
        db.import_file("x", path)
    scipy.io.mmwrite(path, sp.coo_matrix(np.array([[1, 2j], [-2j, 1]])), symmetry="hermitian")
    with pytest.raises(ts.IoError, match="x.mtx, line 1, column"):
        db.import_file("x", path)
    assert db.list() == []


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
def test_what_is_written_is_read_by_others(db, tmp_path, dtype):
    matrix = random_sparse(150, 70, 0.1, np.float64)
    scipy.io.mmwrite(tmp_path / "in.mtx", matrix, precision=17)
    db.import_file("x", tmp_path / "in.mtx", tile=(40, 30))
    db.export_file("x", tmp_path / "out.mtx")
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "out.mtx").toarray(), matrix.toarray())
    db.export_file("x", tmp_path / "out.csv")
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "out.csv", delimiter=","), matrix.toarray())
    db.export_file("x", tmp_path / "out.triples", index_base=1, header=True)
    lines = np.loadtxt(tmp_path / "out.triples", delimiter=",", skiprows=1)
    assert len(lines) == matrix.nnz
    again = sp.coo_matrix((lines[:, 2], (lines[:, 0] - 1, lines[:, 1] - 1)), matrix.shape)
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())
    dense = (np.random.default_rng(3).normal(size=(31, 17)) * 100).astype(dtype)
    db.store("d", ts.relation(dense, (10, 5)))
    db.export_file("d", tmp_path / "d.mtx")
    back = scipy.io.mmread(tmp_path / "d.mtx")
    np.testing.assert_array_equal(back.toarray() if sp.issparse(back) else back, dense)
    db.import_file("e", tmp_path / "d.mtx")
    found = value(db, "e")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, dense)


def test_points_and_labels(db, tmp_path):
    path = tmp_path / "x.svm"
    path.write_text("# points\n1 1:0.5 4:2\n-1 qid:1 2:3 # a comment\n")
    report = db.import_file("p", path)
    assert report["names"] == ["p", "p.labels"]
    assert report["rows"] == 2
    np.testing.assert_array_equal(value(db, "p"), [[0.5, 0, 0, 2], [0, 3, 0, 0]])
    np.testing.assert_array_equal(value(db, "p.labels"), [[1], [-1]])
    db.export_file(["p", "p.labels"], tmp_path / "y.svm")
    assert (tmp_path / "y.svm").read_text() == "1 1:0.5 4:2\n-1 2:3\n"
    path = tmp_path / "x.xc"
    path.write_text("2 3 4\n1,3 0:1.5\n 2:2\n")
    db.import_file("q", path)
    np.testing.assert_array_equal(value(db, "q"), [[1.5, 0, 0], [0, 0, 2]])
    np.testing.assert_array_equal(value(db, "q.labels"), [[0, 1, 0, 1], [0, 0, 0, 0]])
    db.export_file(["q", "q.labels"], tmp_path / "y.xc")
    assert (tmp_path / "y.xc").read_text() == path.read_text()


def test_labels_that_are_no_sets_are_refused(db, tmp_path):
    db.store("points", ts.relation(np.eye(3), tile=(2, 2)))
    db.store("sets", ts.relation(np.array([[0, 1], [1, 1], [0, 0]]), tile=(2, 2)))
    db.store("classes", ts.relation(np.array([[0.0], [1], [2]]), tile=(2, 1)))
    db.store("scores", ts.relation(np.array([[0, 0.5], [1, 0], [0, 0]]), tile=(2, 2)))
    db.export_file(["points", "sets"], tmp_path / "x.xc")
    assert (tmp_path / "x.xc").read_text() == "3 3 2\n1 0:1\n0,1 1:1\n 2:1\n"
    with_a_zero = sp.csr_matrix(([1, 0, 1], [1, 0, 1], [0, 1, 3, 3]), shape=(3, 2))
    db.store("stored", ts.relation(with_a_zero, tile=(2, 2)))
    db.export_file(["points", "stored"], tmp_path / "x.xc")
    assert (tmp_path / "x.xc").read_text() == "3 3 2\n1 0:1\n1 1:1\n 2:1\n"
    with pytest.raises(ts.TypeError, match="\"classes\" has the value 2 at <2, 0>; several labels per point"):
        db.export_file(["points", "classes"], tmp_path / "x.xc")
    with pytest.raises(ts.TypeError, match="\"scores\" has the value 0.5 at <0, 1>; several labels per point"):
        db.export_file(["points", "scores"], tmp_path / "x.xc")
    db.export_file(["points", "classes"], tmp_path / "x.svm")
    assert (tmp_path / "x.svm").read_text() == "0 1:1\n1 2:1\n2 3:1\n"


def test_an_error_stores_nothing(db, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1.5,2\n" * 200000 + "1,2,3\n")
    with pytest.raises(ts.IoError, match=r"x.csv, line 200001: 3 fields, but the first line has 2"):
        db.import_file("x", path)
    path = tmp_path / "x.svm"
    path.write_text("1 1:1\n" * 200000 + "1 2:1 2:2\n")
    with pytest.raises(ts.IoError, match="line 200001: feature 2 occurs twice"):
        db.import_file("x", path)
    assert db.list() == []
    assert db.check() == []


def test_progress_and_a_tensor_in_a_plan(db, tmp_path):
    matrix = random_sparse(500, 400, 0.05, np.float64)
    scipy.io.mmwrite(tmp_path / "x.mtx", matrix, precision=17)
    seen = []
    db.import_file("x", tmp_path / "x.mtx", tile=(100, 100), progress=seen.append, progress_seconds=0)
    assert seen and seen[-1].bytes_done == (tmp_path / "x.mtx").stat().st_size
    assert seen[-1].rows == matrix.nnz
    np.testing.assert_allclose(value(db, "x").sum(), matrix.sum())
