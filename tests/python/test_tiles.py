"""Tiles to and from NumPy and SciPy, printing included, with those as the oracles."""
import gc

import numpy as np
import pytest
import scipy.sparse as sp

import tessera as ts

DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "bool": np.bool_}


def random_array(rng, dtype, shape):
    values = rng.integers(-3, 4, shape) if dtype != "bool" else rng.integers(0, 2, shape)
    return values.astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (3, 0, 2), (2,) * 8])
def test_numpy_round_trip_without_a_copy(dtype, shape):
    array = random_array(np.random.default_rng(1), dtype, shape)
    tile = ts.Tile(array)
    assert tile.dtype == dtype and tile.shape == shape and tile.rank == len(shape)
    back = tile.numpy()
    assert back.dtype == array.dtype and np.array_equal(back, array)
    if array.size:
        assert np.shares_memory(back, array)
    assert not back.flags.writeable


def test_views_of_arrays_are_not_copied():
    array = np.arange(24.0).reshape(4, 6)
    for view in (array.T, array[::2], array[::-1, ::-2], np.broadcast_to(array[0], (3, 6)), array[:, 2]):
        tile = ts.Tile(view)
        assert np.array_equal(tile.numpy(), view)
        assert np.shares_memory(tile.numpy(), array)


def test_memory_lives_as_long_as_whoever_reads_it():
    tile = ts.Tile(np.arange(1000.0))
    array = tile.T.numpy()
    del tile
    gc.collect()
    assert array.sum() == 499500


def test_unaligned_arrays_are_copied():
    record = np.zeros(3, dtype=[("a", np.int8), ("b", np.float64)])
    record["b"] = [1, 2, 3]
    assert np.array_equal(ts.Tile(record["b"]).numpy(), [1, 2, 3])


def test_other_dtypes_are_refused():
    with pytest.raises(ts.TypeError, match="unsupported dtype of an array: int32; cast it"):
        ts.Tile(np.zeros(3, np.int32))
    with pytest.raises(TypeError):  # it is Python's TypeError too
        ts.Tile(np.zeros(3, ">f8"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 0), (1, 7), (5, 1), (20, 30)])
def test_scipy_round_trip(dtype, shape):
    dense = random_array(np.random.default_rng(2), dtype, shape)
    matrix = sp.csr_matrix(dense)
    tile = ts.Tile(matrix)
    assert tile.is_sparse and tile.stored == matrix.nnz
    assert np.array_equal(tile.numpy(), dense)
    back = tile.scipy()
    assert back.dtype == matrix.dtype and back.shape == shape
    assert (back != matrix).nnz == 0
    assert np.array_equal(ts.Tile.from_scipy(sp.coo_matrix(dense), sparse_dims=2).numpy(), dense)


def test_scipy_shares_memory_when_its_indices_are_64_bit():
    matrix = sp.random(50, 60, 0.1, "csr", random_state=1)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    tile = ts.Tile(matrix)
    assert np.shares_memory(tile.scipy().data, matrix.data)


def test_duplicate_coordinates_are_summed_and_the_matrix_left_alone():
    matrix = sp.csr_matrix((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert np.array_equal(ts.Tile(matrix).numpy(), [[0, 2], [1, 0]])
    assert matrix.nnz == 3


def test_a_slice_of_a_sparse_tile_converts():
    matrix = sp.random(50, 60, 0.1, "csr", random_state=1)
    part = ts.kernels.slice(matrix, begin=[10, 0], end=[20, 60])
    assert (part.scipy() != matrix[10:20]).nnz == 0


def test_sparse_tiles_of_any_rank_from_their_arrays():
    tile = ts.Tile.from_arrays((2, 2, 3), 2, [0, 1, 3], [4, 0, 5], np.array([1.0, 2.0, 3.0]))
    expected = np.zeros((2, 2, 3))
    expected[0, 1, 1], expected[1, 0, 0], expected[1, 1, 2] = 1, 2, 3
    assert np.array_equal(tile.numpy(), expected)
    with pytest.raises(ts.TypeError, match="needs 3 offsets, not 2"):
        ts.Tile.from_arrays((2, 2, 3), 2, [0, 1], [4], np.array([1.0]))
    for dims, offsets, message in (
            (1, [0, 1, 9], "fewer coordinates or values"), (1, [0, 9, 2], "must not decrease"),
            (5, [0, 1, 2], "cannot have 5 sparse dimensions"), (-1, [0, 1, 2], "cannot have -1")):
        with pytest.raises(ts.TypeError, match=message):
            ts.Tile.from_arrays((2, 3), dims, offsets, [0, 1], np.array([1.0, 2.0]))


def test_index_arrays_are_copied_because_they_were_checked():
    coordinates = np.array([0])
    tile = ts.Tile.from_arrays((1, 3), 1, np.array([0, 1]), coordinates, np.array([1.0]))
    coordinates[0] = 10**9
    assert np.array_equal(tile.numpy(), [[1, 0, 0]])


def test_malformed_scipy_matrices_are_refused():
    short = sp.csr_matrix(np.eye(3))
    short.data = short.data[:1]
    wild = sp.csr_matrix(np.eye(3))
    wild.indptr = np.array([0, 9, 2, 3], np.int32)
    for matrix in (short, wild):
        with pytest.raises(ts.TypeError, match="invalid sparse matrix"):
            ts.Tile(matrix)


def test_printing_equals_numpys():
    rng = np.random.default_rng(3)
    for case in range(3000):
        shape = tuple(rng.integers(1, 5, rng.integers(1, 4)))
        if case % 50 == 0:
            shape = (int(rng.integers(900, 1200)),) if case % 100 else (40, 30)
        scale = 10.0 ** rng.integers(-6, 10)
        array = [
            lambda: rng.normal(size=shape) * scale,
            lambda: np.round(rng.normal(size=shape), 2),
            lambda: rng.integers(-1000, 1000, shape),
            lambda: rng.integers(0, 2, shape).astype(bool),
            lambda: (rng.normal(size=shape) * 100).astype(np.float32),
            lambda: np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf, 0.0]), rng.normal(size=shape)),
        ][case % 6]()
        assert str(ts.Tile(array)) == str(array), repr(array)


def test_random_tiles_follow_their_seed():
    a, b = ts.Tile.random((3, 4), seed=5), ts.Tile.random((3, 4), seed=5)
    assert np.array_equal(a.numpy(), b.numpy())
    assert 0 <= a.numpy().min() and a.numpy().max() < 1
    assert 0.3 < ts.Tile.random((1000,), dtype="bool").numpy().mean() < 0.7
    integers = ts.Tile.random((1000,), dtype="i64", low=-2, high=3).numpy()
    assert set(integers) == {-2, -1, 0, 1, 2}
    with pytest.raises(ts.TypeError, match="need low and high"):
        ts.Tile.random((3,), dtype="i64")
    sparse = ts.Tile.random((100, 100), seed=5, density=0.1)
    assert sparse.is_sparse and 800 < sparse.stored < 1200


def test_indexing_equals_numpys():
    rng = np.random.default_rng(4)
    for _ in range(2000):
        array = rng.integers(-1, 2, tuple(rng.integers(0, 5, rng.integers(1, 4)))).astype(float)
        key = []
        for extent in array.shape[:rng.integers(0, array.ndim + 1)]:
            bounds = [None if rng.random() < 0.3 else int(rng.integers(-6, 7)) for _ in range(2)]
            step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
            whole = rng.random() < 0.6 or extent == 0
            key.append(slice(*bounds, step) if whole else int(rng.integers(-extent, extent)))
        if rng.random() < 0.3:
            key.insert(int(rng.integers(0, len(key) + 1)), Ellipsis)
        key = tuple(key)
        tile = ts.Tile(array)
        try:
            array[key]
        except IndexError:  # the dots moved an integer to a shorter dimension
            with pytest.raises(IndexError):
                tile[key]
            continue
        for layout in range(array.ndim + 1):
            assert np.array_equal(tile.sparse(layout)[key].numpy(), array[key]), (array.shape, key)
        if array[key].size:
            assert np.shares_memory(tile[key].numpy(), array)
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0"):
        ts.Tile(np.zeros(3))[3]
    with pytest.raises(ts.TypeError, match="wrong number of indices: 2 for f64"):
        ts.Tile(np.zeros(3))[0, 0]
    with pytest.raises(ts.TypeError, match="invalid index"):
        ts.Tile(np.zeros(3))["x"]
    assert [float(t.numpy()) for t in ts.Tile(np.arange(3.0))] == [0, 1, 2]
