"""Arrays of NumPy: read as NumPy wrote them, and written so that NumPy reads them."""
import os

import numpy as np
import pytest
import tessera as ts

from array_files import KINDS, SHAPES, check, db, expect_refused, head, npy, sample, tile_of  # noqa: F401


@pytest.mark.parametrize("kind", KINDS)
def test_npy_of_every_dtype_order_and_shape(db, tmp_path, kind):  # noqa: F811
    path = tmp_path / "x.npy"
    for byte_order in "<>":
        for order in "CF":
            for number, shape in enumerate(SHAPES):
                x = np.asarray(sample(byte_order + kind, shape, number), order=order)
                np.save(path, x)
                db.import_file("X", path, tile=tile_of(shape))
                check(db, "X", x)
                db.drop("X")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_of_npy(db, tmp_path, version):  # noqa: F811
    x = np.arange(12.0).reshape(3, 4)
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, x, version=version)
    db.import_file("X", tmp_path / "x.npy")
    check(db, "X", x)


@pytest.mark.parametrize("dtype", ["f32", "f64", "i64", "bool"])
def test_casts_to_a_dtype_that_is_asked_for(db, tmp_path, dtype):  # noqa: F811
    wanted = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "bool": bool}[dtype]
    for kind in KINDS:
        x = (np.arange(35) % 3).reshape(7, 5).astype(">" + kind)
        np.save(tmp_path / "x.npy", x)
        db.import_file("X", tmp_path / "x.npy", dtype=dtype, tile=(3, 2))
        read = db.read("X").numpy()
        assert read.dtype == wanted and np.array_equal(read, x.astype(wanted))
        db.drop("X")


def test_half_precision_is_exact(db, tmp_path):  # noqa: F811
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy")
    assert np.array_equal(db.read("X").numpy(), x.astype(np.float32), equal_nan=True)


def test_numbers_that_i64_does_not_hold_are_refused(db, tmp_path):  # noqa: F811
    big = np.array([1, 2**63, 2**64 - 1], np.uint64)
    np.save(tmp_path / "big.npy", big)
    with pytest.raises(ts.ValueError, match="big.npy has the value 9223372036854775808.*dtype f64"):
        db.import_file("X", tmp_path / "big.npy")
    db.import_file("X", tmp_path / "big.npy", dtype="f64")
    assert np.array_equal(db.read("X").numpy(), big.astype(float))
    np.save(tmp_path / "nan.npy", np.array([1.5, np.nan]))
    with pytest.raises(ts.ValueError, match="nan.npy has the value nan"):
        db.import_file("Y", tmp_path / "nan.npy", dtype="i64")
    np.save(tmp_path / "y.npy", np.array([1.5, -2.5]))
    db.import_file("Y", tmp_path / "y.npy", dtype="i64")
    assert db.read("Y").numpy().tolist() == [1, -2]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32, np.float64])
def test_exported_npy_is_read_by_numpy(db, tmp_path, shape, dtype):  # noqa: F811
    x = sample(dtype, shape)
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy", tile=tile_of(shape))
    for column_major in (False, True):
        db.export_file("X", tmp_path / "y.npy", column_major=column_major)
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == x.dtype and y.shape == x.shape and np.array_equal(x, y)
    assert (os.path.getsize(tmp_path / "y.npy") - x.nbytes) % 64 == 0


FLOATS = bytes(32)
MALFORMED = [
    ("empty.npy", b"", "the file ends in its header"),
    ("magic.npy", npy(head(), FLOATS, magic=b"\x93NUMPX"), "is not an npy file"),
    ("text.npy", b"1,2,3\n4,5,6\n", "is not an npy file"),
    ("version.npy", npy(head(), FLOATS, version=9), "version 9"),
    ("cut_in_length.npy", b"\x93NUMPY\x01\x00\x10", "the file ends in its header"),
    ("cut_in_head.npy", npy(head(), length=5000), "the file ends in its header"),
    ("long_head.npy", npy(head(), version=2, length=2**31), "its header is too long"),
    ("no_dict.npy", npy("[1, 2, 3]\n", FLOATS), "not a valid dictionary, at character 1"),
    ("half_dict.npy", npy("{'descr': '<f8', 'fortran_order': Fal", FLOATS), "not a valid dictionary"),
    ("no_shape.npy", npy("{'descr': '<f8', 'fortran_order': False}\n", FLOATS), "must have descr"),
    ("other_key.npy", npy(head()[:-3] + "'more': 1}\n", FLOATS), "the unknown entry 'more'"),
    ("complex.npy", npy(head("'<c16'"), FLOATS), "complex numbers"),
    ("object.npy", npy(head("'|O'"), FLOATS), "Python objects"),
    ("text_elements.npy", npy(head("'<U8'"), FLOATS), "text"),
    ("structure.npy", npy(head("[('a', '<f8')]"), FLOATS), "structured dtypes"),
    ("dates.npy", npy(head("'<M8[s]'"), FLOATS), "dates"),
    ("long_double.npy", npy(head("'<f16'"), FLOATS), "long doubles"),
    ("unknown.npy", npy(head("'<z3'"), FLOATS), "unknown"),
    ("negative.npy", npy(head(shape="(-2, 2)"), FLOATS), "negative: -2"),
    ("huge.npy", npy(head(shape="(4611686018427387904, 4)"), FLOATS), "is too large"),
    ("huge_and_empty.npy", npy(head(shape="(0, 9223372036854775807)")), "is too large"),
    ("beyond.npy", npy(head(shape="(99999999999999999999,)"), FLOATS), "larger than 2\\^63"),
    ("nine.npy", npy(head(shape="(1, 1, 1, 1, 1, 1, 1, 1, 1)"), FLOATS[:8]), "more than 8 dimensions"),
    ("no_number.npy", npy(head(shape="(2, x)"), FLOATS), "not a valid dictionary"),
    ("few.npy", npy(head(), FLOATS[:31]), "has 31 bytes of data, but .*are 32 bytes: the file is truncated"),
    ("none.npy", npy(head()), "has 0 bytes of data"),
    ("many.npy", npy(head(), FLOATS + b"x"), "more than one array"),
    ("order.npy", npy(head(order="Maybe"), FLOATS), "not a valid dictionary"),
]


@pytest.mark.parametrize("name,data,reason", MALFORMED, ids=[m[0] for m in MALFORMED])
def test_malformed_files_are_refused_and_leave_nothing(db, tmp_path, name, data, reason):  # noqa: F811
    expect_refused(db, tmp_path, name, data, reason)
