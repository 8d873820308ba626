"""where, concat, stack, cumsum and cumprod of whole tensors, with any tiles, compared with NumPy."""
import numpy as np
import pytest
import scipy.io
import scipy.sparse
import tessera as ts

DTYPES = [np.float64, np.float32, np.int64, np.bool_]


class Lab:
    """A database with random tensors and what they are as arrays."""

    def __init__(self, db, folder, rng):
        self.db, self.folder, self.rng, self.made = db, folder, rng, 0
        self.session = db.session(sites=int(rng.integers(1, 4)), threads=2)

    def extent(self, least=0):
        return int(self.rng.choice([least, 1, 2, 3, 5, 8, 13]))

    def tensor(self, shape, dtype=None):
        rng = self.rng
        dtype = rng.choice(DTYPES) if dtype is None else dtype
        if not shape and dtype == np.float32:  # a number is one of Python's
            dtype = np.float64
        self.made += 1
        name = f"t{self.made}"
        values = rng.integers(-4, 5, shape).astype(dtype)
        tile = "".join(f"[{rng.integers(1, max(1, extent) + 1)}]" for extent in shape)
        kind = rng.choice(["dense", "dense", "layout", "tiles"])
        if kind != "dense" and values.size:
            values = values * (rng.random(shape) < 0.3).astype(dtype)
        if kind == "tiles" and len(shape) == 2 and values.size and dtype == np.float64:  # some tiles are absent
            values[:, : shape[1] // 2] = 0
            path = self.folder / f"{name}.mtx"
            scipy.io.mmwrite(str(path), scipy.sparse.coo_matrix(values))
            self.session.sql(f"CREATE TENSOR {name} FROM '{path}' TILE {tile}")
            return name, values
        self.session.sql(f"CREATE TENSOR {name} {'TILE ' + tile if shape else ''} AS ?", [values])
        if kind == "layout" and shape:
            return f"compress({name}, sparse_dims = {rng.integers(1, len(shape) + 1)})", values
        return name, values

    def check(self, expression, expected, exact=True):
        if self.rng.random() < 0.5:
            self.session.sql(f"CREATE OR REPLACE TENSOR result AS {expression}")
            expression = "result"
        (got,), = self.session.sql("SELECT " + expression)
        if isinstance(got, ts.Tile):
            got = got.dense().numpy()
        got, expected = np.asarray(got), np.asarray(expected)
        assert got.shape == expected.shape, expression
        if got.ndim:  # a number is one of Python's
            assert got.dtype == expected.dtype, expression
        if exact:
            assert np.array_equal(got, expected), expression
        else:
            assert np.allclose(got, expected, rtol=1e-4, atol=1e-4), expression


@pytest.fixture
def lab(tmp_path, request):
    return Lab(ts.connect(tmp_path / "lab.tsdb"), tmp_path, np.random.default_rng(request.param))


def seeds(count):
    return pytest.mark.parametrize("lab", range(count), indirect=True)


def narrowed(rng, shape):
    kept = shape[rng.integers(0, len(shape) + 1):] if rng.random() < 0.3 else shape
    return tuple(1 if rng.random() < 0.25 else extent for extent in kept)


@seeds(40)
def test_where(lab):
    rng = lab.rng
    shape = tuple(lab.extent() for _ in range(rng.integers(1, 4)))
    condition, holds = lab.tensor(narrowed(rng, shape), np.bool_ if rng.random() < 0.5 else None)
    (a, yes), (b, no) = (lab.tensor(narrowed(rng, shape)) for _ in range(2))
    expected = np.where(holds != 0, yes, no).astype(np.result_type(yes.dtype, no.dtype))
    lab.check(f"where({condition}, {a}, {b})", expected)
    number = [2, 0, 1.5][rng.integers(0, 3)]
    kind = yes.dtype if yes.dtype.kind == "f" else np.result_type(yes.dtype, np.asarray(number).dtype)
    lab.check(f"where({condition}, {a}, {number})", np.where(holds != 0, yes, number).astype(kind))
    lab.check(f"where({condition} = 0, {number}, {a})", np.where(holds == 0, number, yes).astype(kind))
    lab.check(f"sum(where({condition} = 0, {a}, {b}) * 2)", np.sum(np.where(holds == 0, yes, no) * 2.0), exact=False)


@seeds(60)
def test_concat(lab):
    rng = lab.rng
    rank = int(rng.integers(1, 4))
    axis = int(rng.integers(-rank, rank))
    shape = [lab.extent(least=int(rng.random() < 0.8)) for _ in range(rank)]
    dtype = rng.choice(DTYPES) if rng.random() < 0.7 else None
    parts = []
    for _ in range(rng.choice([1, 2, 2, 3, 4, 20])):
        shape[axis] = lab.extent()
        parts.append(lab.tensor(tuple(shape), dtype))
    arrays = [array for _, array in parts]
    expected = np.concatenate(arrays, axis=axis)
    lab.check(f"concat({', '.join(name for name, _ in parts)}, axis = {axis})", expected)


@seeds(40)
def test_stack(lab):
    rng = lab.rng
    shape = tuple(lab.extent() for _ in range(rng.integers(0, 4)))
    axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
    dtype = rng.choice(DTYPES)
    parts = [lab.tensor(shape, dtype) for _ in range(rng.choice([1, 2, 3, 9]))]
    lab.check(f"stack({', '.join(name for name, _ in parts)}, axis = {axis})",
              np.stack([array for _, array in parts], axis=axis))


@seeds(60)
def test_sums_and_products_along_a_dimension(lab):
    rng = lab.rng
    shape = tuple(lab.extent() for _ in range(rng.integers(1, 4)))
    axis = int(rng.integers(-len(shape), len(shape)))
    name, array = lab.tensor(shape)
    lab.check(f"cumsum({name}, axis = {axis})", np.cumsum(array, axis=axis), exact=array.dtype.kind != "f")
    lab.check(f"cumprod({name}, axis = {axis})", np.cumprod(array, axis=axis), exact=array.dtype.kind != "f")
    before = np.cumsum(array, axis=axis) - array
    lab.check(f"cumsum({name}, axis = {axis}, exclusive = true)", before, exact=array.dtype.kind != "f")


def test_large_tensors_are_joined_tile_by_tile(tmp_path):
    session = ts.connect(tmp_path / "lab.tsdb").session(memory_limit="96MB")
    session.sql("CREATE TENSOR a AS ones(4001, 2500)")  # 80 MB
    session.sql("CREATE TENSOR b AS concat(a, cumsum(a), a)")
    session.sql("CREATE TENSOR c AS stack(a, a)")
    session.sql("CREATE TENSOR d AS where(a > 0, 3, a)")
    session.sql("CREATE TENSOR e AS reshape(a, shape = [8002, 25, 50])")
    totals = [session.sql(f"SELECT sum({name})")[0][0] for name in "bcde"]
    n = 4001
    assert totals == [2500 * (2 * n + n * (n + 1) / 2), 5000 * n, 7500 * n, 2500 * n]


@seeds(60)
def test_reshape(lab):
    rng = lab.rng
    factors = [int(rng.choice([1, 2, 2, 3, 4, 6])) for _ in range(6)]
    shapes = []
    for _ in range(2):  # neighbouring factors joined
        cuts = sorted(rng.choice(range(7), rng.integers(0, 4), replace=False))
        pieces = np.split(factors, cuts)
        shapes.append(tuple(int(np.prod(piece)) for piece in pieces))
    if rng.random() < 0.1:
        shapes = [shape + (0,) for shape in shapes]
    name, array = lab.tensor(shapes[0])
    lab.check(f"reshape({name}, shape = [{', '.join(map(str, shapes[1]))}])", array.reshape(shapes[1]))
