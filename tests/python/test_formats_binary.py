"""Arrays of NumPy, archives of them, raw binary files and HDF5: read as the real tools wrote them, and
written so that the real tools read them. What is malformed is refused and leaves nothing behind."""
import io
import os
import signal
import struct
import threading
import zipfile

import h5py
import numpy as np
import pytest
import tessera as ts

KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
SHAPES = [(), (0,), (1,), (7,), (1, 9), (9, 1), (0, 4), (4, 0), (6, 8), (7, 5), (3, 4, 5), (2, 1, 3, 2),
          (2, 2, 2, 1, 2, 1, 2, 3)]


def tile_of(shape, extent=3):
    return tuple(max(1, min(extent, n)) for n in shape) or None


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def sample(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        return np.asarray(random.normal(size=shape) * 100).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, min(info.max, 2**63 - 1), shape, dtype=dtype.newbyteorder("="),
                           endpoint=True).astype(dtype)


def expected_dtype(dtype):
    kind = np.dtype(dtype)
    return {"b": bool, "i": np.int64, "u": np.int64}.get(kind.kind) or (
        np.float64 if kind.itemsize == 8 else np.float32)


def check(db, name, array):
    read = db.read(name).numpy()
    assert read.shape == array.shape and read.dtype == expected_dtype(array.dtype)
    assert np.array_equal(read, array.astype(read.dtype))
    assert db.info(name)["shape"] == array.shape


# ---------------------------------------------------------------- npy

@pytest.mark.parametrize("kind", KINDS)
def test_npy_of_every_dtype_order_and_shape(db, tmp_path, kind):
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
def test_versions_of_npy(db, tmp_path, version):
    x = np.arange(12.0).reshape(3, 4)
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, x, version=version)
    db.import_file("X", tmp_path / "x.npy")
    check(db, "X", x)


@pytest.mark.parametrize("dtype", ["f32", "f64", "i64", "bool"])
def test_casts_to_a_dtype_that_is_asked_for(db, tmp_path, dtype):
    wanted = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "bool": bool}[dtype]
    for kind in KINDS:
        x = (np.arange(35) % 3).reshape(7, 5).astype(">" + kind)
        np.save(tmp_path / "x.npy", x)
        db.import_file("X", tmp_path / "x.npy", dtype=dtype, tile=(3, 2))
        read = db.read("X").numpy()
        assert read.dtype == wanted and np.array_equal(read, x.astype(wanted))
        db.drop("X")


def test_half_precision_is_exact(db, tmp_path):
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy")
    assert np.array_equal(db.read("X").numpy(), x.astype(np.float32), equal_nan=True)


def test_numbers_that_i64_does_not_hold_are_refused(db, tmp_path):
    big = np.array([1, 2**63, 2**64 - 1], np.uint64)
    np.save(tmp_path / "big.npy", big)
    with pytest.raises(ts.ValueError, match="big.npy holds 9223372036854775808.*dtype f64"):
        db.import_file("X", tmp_path / "big.npy")
    db.import_file("X", tmp_path / "big.npy", dtype="f64")
    assert np.array_equal(db.read("X").numpy(), big.astype(float))
    np.save(tmp_path / "nan.npy", np.array([1.5, np.nan]))
    with pytest.raises(ts.ValueError, match="nan.npy holds nan"):
        db.import_file("Y", tmp_path / "nan.npy", dtype="i64")
    np.save(tmp_path / "y.npy", np.array([1.5, -2.5]))
    db.import_file("Y", tmp_path / "y.npy", dtype="i64")
    assert db.read("Y").numpy().tolist() == [1, -2]


@pytest.mark.parametrize("memory", [1, 5000, 60_000, 1 << 26])
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_and_threads_change_nothing(db, tmp_path, memory, threads):
    for kind in ["<f8", ">i2"]:
        for order in "CF":
            x = np.asarray(sample(kind, (61, 47, 5)), order=order)
            np.save(tmp_path / "x.npy", x)
            np.savez(tmp_path / "x.npz", x)
            with h5py.File(tmp_path / "x.h5", "w") as file:
                file.create_dataset("x", data=x, chunks=(10, 10, 2))
            for tile in [(10, 9, 2), (61, 1, 5), (1, 47, 1), (100, 100, 100)]:
                for path in ("x.npy", "x.npz", "x.h5"):
                    db.import_file("X", tmp_path / path, tile=tile, memory=memory, threads=threads)
                    check(db, "X", x)
                    for column_major in (False, True):
                        db.export_file("X", tmp_path / "back.npy", column_major=column_major,
                                       memory=memory, threads=threads)
                        back = np.load(tmp_path / "back.npy")
                        assert np.array_equal(back, x.astype(back.dtype))
                        assert back.flags.f_contiguous == column_major
                    db.drop("X")


def test_statistics_are_gathered_on_the_way(db, tmp_path):
    x = np.random.default_rng(1).integers(-3, 4, (50, 30))
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy", tile=(7, 11))
    statistics = db.info("X")["statistics"]
    assert statistics == ts.relation(x, tile=(7, 11)).statistics()
    assert statistics["nonzeros"] == np.count_nonzero(x) and statistics["min"] == x.min()


def test_tiles_are_chosen_near_to_square_and_of_8_megabytes(db, tmp_path):
    for shape, tile in [((3000, 2500), "1500x1250"), ((10**7,), "2000000"), ((4, 3_000_000), "4x500000"),
                        ((200, 300, 250), "100x150x125"), ((0, 10**6), "0x1000000"), ((), "")]:
        np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
        db.import_file("X", tmp_path / "x.npy")
        assert db.info("X")["type"].endswith(f"-> f32[{tile}]")
        db.drop("X")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32, np.float64])
def test_exported_npy_is_read_by_numpy(db, tmp_path, shape, dtype):
    x = sample(dtype, shape)
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy", tile=tile_of(shape))
    for column_major in (False, True):
        db.export_file("X", tmp_path / "y.npy", column_major=column_major)
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == x.dtype and y.shape == x.shape and np.array_equal(x, y)
    assert (os.path.getsize(tmp_path / "y.npy") - x.nbytes) % 64 == 0


def test_sparse_tensors_are_written_dense(db, tmp_path):
    x = np.zeros((20, 30))
    x[3, 4], x[19, 29] = 5, -1
    db.store("S", ts.relation(x, tile=(6, 7), presence="sparse"))
    for path in ("s.npy", "s.npz", "s.raw", "s.h5"):
        db.export_file("S", tmp_path / path)
    assert np.array_equal(np.load(tmp_path / "s.npy"), x)
    assert np.array_equal(np.load(tmp_path / "s.npz")["S"], x)
    assert np.array_equal(np.fromfile(tmp_path / "s.raw").reshape(x.shape), x)
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["S"][...], x)


# ---------------------------------------------------------------- npz

@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(db, tmp_path, save):
    arrays = {"w": sample("f4", (13, 7)), "b": sample("i2", (7,)),
              "f": np.asfortranarray(sample("f8", (5, 6, 7))), "n": np.float64(3)}
    save(tmp_path / "m.npz", **arrays)
    report = db.import_file("M", tmp_path / "m.npz")
    assert report["names"] == ["M.w", "M.b", "M.f", "M.n"]
    assert db.list() == ["M.b", "M.f", "M.n", "M.w"]
    for name, array in arrays.items():
        check(db, "M." + name, np.asarray(array))
    report = db.import_file("only_f", tmp_path / "m.npz", member="f", tile=(2, 3, 4))
    assert report["names"] == ["only_f"]
    check(db, "only_f", arrays["f"])
    save(tmp_path / "one.npz", arrays["w"])
    assert db.import_file("one", tmp_path / "one.npz")["names"] == ["one"]
    check(db, "one", arrays["w"])


def test_an_archive_is_stored_as_a_whole_or_not_at_all(db, tmp_path):
    np.savez(tmp_path / "m.npz", a=np.ones(3), b=np.array(["text"]))
    with pytest.raises(ts.IoError, match="b in .*m.npz cannot be read: elements '<U4' are text"):
        db.import_file("M", tmp_path / "m.npz")
    assert db.list() == []
    db.store("N.b", ts.relation(np.ones(2), tile=(2,)))
    np.savez(tmp_path / "n.npz", a=np.ones(3), b=np.ones(4))
    with pytest.raises(ts.TypeError, match="there is a 'N.b' already"):
        db.import_file("N", tmp_path / "n.npz")
    assert db.list() == ["N.b"]


def test_exported_archives_are_read_by_numpy(db, tmp_path):
    arrays = {"a": sample("f8", (30, 20)), "b": sample("b1", (5,)), "c/d": sample("i8", ())}
    for name, array in arrays.items():
        np.save(tmp_path / "x.npy", array)
        db.import_file(name, tmp_path / "x.npy", tile=tile_of(array.shape, 7))
    db.export_file(list(arrays), tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as all_of_them:
        assert sorted(all_of_them) == sorted(arrays)
        for name, array in arrays.items():
            assert np.array_equal(all_of_them[name], array)
    assert zipfile.ZipFile(tmp_path / "all.npz").testzip() is None
    with pytest.raises(ts.TypeError, match="npy holds one array, not 3"):
        db.export_file(list(arrays), tmp_path / "all.npy")


# ---------------------------------------------------------------- raw

def test_raw_files(db, tmp_path):
    x = sample("f4", (11, 6))
    for order, column_major in (("C", False), ("F", True)):
        (tmp_path / "x.raw").write_bytes(x.tobytes(order))
        db.import_file("X", tmp_path / "x.raw", shape=(11, 6), dtype="f32", tile=(4, 4),
                       column_major=column_major)
        check(db, "X", x)
        db.export_file("X", tmp_path / "y.raw", column_major=column_major)
        assert (tmp_path / "y.raw").read_bytes() == x.tobytes(order)
        db.drop("X")


# ---------------------------------------------------------------- HDF5

@pytest.mark.parametrize("kind", KINDS)
def test_hdf5_of_every_type_and_layout(db, tmp_path, kind):
    for byte_order in "<>":
        for number, (shape, how) in enumerate([
                ((), {}), ((7,), {}), ((0, 3), {}), ((33, 21), {}), ((33, 21), {"chunks": (5, 8)}),
                ((33, 21), {"chunks": (8, 21), "compression": "gzip", "shuffle": True}),
                ((6, 7, 8), {"chunks": True, "fletcher32": True, "compression": "lzf"})]):
            x = sample(byte_order + kind, shape, number)
            with h5py.File(tmp_path / "x.h5", "w") as file:
                file.create_dataset("group/x", data=x, **how)
            db.import_file("X", tmp_path / "x.h5", tile=tile_of(shape, 10))
            check(db, "X", x)
            db.drop("X")


def test_datasets_by_name(db, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["g/b"] = np.arange(3), np.arange(4.0)
        file["text"] = "no numbers"
        file["long"] = np.arange(3, dtype=np.longdouble)
        file["far"] = np.array([2**64 - 1], np.uint64)
        file["wide"] = np.zeros((1,) * 9)
    with pytest.raises(ts.TypeError, match="several datasets.*a, far, g/b, long, text, wide"):
        db.import_file("X", tmp_path / "x.h5")
    with pytest.raises(ts.TypeError, match="no dataset 'c'; it has a, far, g/b"):
        db.import_file("X", tmp_path / "x.h5", member="c")
    with pytest.raises(ts.TypeError, match="text in .*x.h5 does not hold numbers"):
        db.import_file("X", tmp_path / "x.h5", member="text")
    with pytest.raises(ts.ValueError, match="far in .*x.h5 holds 18446744073709551615"):
        db.import_file("X", tmp_path / "x.h5", member="far")
    with pytest.raises(ts.TypeError, match="9 dimensions"):
        db.import_file("X", tmp_path / "x.h5", member="wide")
    db.import_file("X", tmp_path / "x.h5", member="/g/b")
    check(db, "X", np.arange(4.0))
    db.import_file("L", tmp_path / "x.h5", member="long")
    check(db, "L", np.arange(3.0))


def test_exported_hdf5_is_read_by_h5py(db, tmp_path):
    arrays = {"a": sample("f8", (30, 20)), "b": sample("b1", (5,)), "g/c": sample("i8", ()),
              "d": sample("f4", (0, 3))}
    for name, array in arrays.items():
        np.save(tmp_path / "x.npy", array)
        db.import_file(name, tmp_path / "x.npy", tile=tile_of(array.shape, 7))
    db.export_file(list(arrays), tmp_path / "all.h5")
    with h5py.File(tmp_path / "all.h5") as file:
        for name, array in arrays.items():
            assert file[name].dtype == array.dtype and np.array_equal(file[name][...], array)
    db.export_file("a", tmp_path / "one.h5", member="deep/in/it")
    with h5py.File(tmp_path / "one.h5") as file:
        assert np.array_equal(file["deep/in/it"][...], arrays["a"])


def test_hdf5_says_nothing_on_stderr(db, tmp_path, capfd):
    (tmp_path / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\x07" * 600)
    with pytest.raises(ts.IoError):
        db.import_file("X", tmp_path / "bad.h5")
    assert capfd.readouterr().err == ""


# ---------------------------------------------------------------- malformed files

def npy(header, data=b"", version=1, length=None, magic=b"\x93NUMPY"):
    text = header if isinstance(header, bytes) else header.encode()
    length = len(text) if length is None else length
    size = struct.pack("<H", length) if version == 1 else struct.pack("<I", length)
    return magic + bytes([version, 0]) + size + text + data


def head(descr="'<f8'", order="False", shape="(2, 2)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for name, data in members.items():
            zipped.writestr(name.replace("_npy", ".npy"), data)
    return file.getvalue()


def hdf5_bytes(**options):
    file = io.BytesIO()
    with h5py.File(file, "w") as made:
        made.create_dataset("x", data=np.arange(5000.0).reshape(100, 50), **options)
    return bytearray(file.getvalue())


def flipped(data, at):
    data = bytearray(data)
    data[at] ^= 0xFF
    return bytes(data)


FLOATS = bytes(32)
GOOD_NPZ = archive(x_npy=npy(head(), FLOATS))
DEFLATED = io.BytesIO()
np.savez_compressed(DEFLATED, x=np.random.default_rng(1).random(4000))
DEFLATED = DEFLATED.getvalue()
GZIPPED = hdf5_bytes(chunks=(10, 50), compression="gzip", fletcher32=True)

MALFORMED = [
    ("empty.npy", b"", "ends inside its head"),
    ("magic.npy", npy(head(), FLOATS, magic=b"\x93NUMPX"), "does not begin as NumPy's format"),
    ("text.npy", b"1,2,3\n4,5,6\n", "does not begin as NumPy's format"),
    ("version.npy", npy(head(), FLOATS, version=9), "version 9"),
    ("cut_in_length.npy", b"\x93NUMPY\x01\x00\x10", "ends inside its head"),
    ("cut_in_head.npy", npy(head(), length=5000), "ends inside its head"),
    ("long_head.npy", npy(head(), version=2, length=2**31), "longer than any"),
    ("no_dict.npy", npy("[1, 2, 3]\n", FLOATS), "not the dictionary it should be, at its character 1"),
    ("half_dict.npy", npy("{'descr': '<f8', 'fortran_order': Fal", FLOATS), "not the dictionary"),
    ("no_shape.npy", npy("{'descr': '<f8', 'fortran_order': False}\n", FLOATS), "does not say descr"),
    ("other_key.npy", npy(head()[:-3] + "'more': 1}\n", FLOATS), "says 'more'"),
    ("complex.npy", npy(head("'<c16'"), FLOATS), "complex numbers"),
    ("object.npy", npy(head("'|O'"), FLOATS), "Python objects"),
    ("text_elements.npy", npy(head("'<U8'"), FLOATS), "text"),
    ("structure.npy", npy(head("[('a', '<f8')]"), FLOATS), "structures"),
    ("dates.npy", npy(head("'<M8[s]'"), FLOATS), "dates"),
    ("long_double.npy", npy(head("'<f16'"), FLOATS), "long doubles"),
    ("unknown.npy", npy(head("'<z3'"), FLOATS), "unknown"),
    ("negative.npy", npy(head(shape="(-2, 2)"), FLOATS), "extent -2"),
    ("huge.npy", npy(head(shape="(4611686018427387904, 4)"), FLOATS), "larger than any file"),
    ("huge_and_empty.npy", npy(head(shape="(0, 9223372036854775807)")), "larger than any file"),
    ("beyond.npy", npy(head(shape="(99999999999999999999,)"), FLOATS), "beyond 2\\^63"),
    ("nine.npy", npy(head(shape="(1, 1, 1, 1, 1, 1, 1, 1, 1)"), FLOATS[:8]), "more than 8 dimensions"),
    ("no_number.npy", npy(head(shape="(2, x)"), FLOATS), "not the dictionary"),
    ("few.npy", npy(head(), FLOATS[:31]), "has 31 bytes of elements, but .*are 32: it was cut off"),
    ("none.npy", npy(head()), "has 0 bytes of elements"),
    ("many.npy", npy(head(), FLOATS + b"x"), "more in it than one array"),
    ("order.npy", npy(head(order="Maybe"), FLOATS), "not the dictionary"),
    ("empty.npz", b"", "cannot be read as an archive"),
    ("text.npz", b"this is no archive" * 20, "cannot be read as an archive"),
    ("cut.npz", GOOD_NPZ[:-30], "cannot be read as an archive"),
    ("no_arrays.npz", archive(readme="hello"), "holds no arrays"),
    ("bad_member.npz", archive(x_npy=b"nonsense"), "x in .* does not begin as NumPy's format"),
    ("short_member.npz", archive(x_npy=npy(head(), FLOATS[:20])), "ends before the last"),
    ("long_member.npz", archive(x_npy=npy(head(), FLOATS + b"12")), "more bytes than its head says"),
    ("huge_member.npz", archive(x_npy=npy(head(shape="(100000000000,)"), FLOATS)), "ends before the last"),
    ("crc.npz", flipped(GOOD_NPZ, GOOD_NPZ.index(b"}\n") + 10), "damaged: CRC error"),
    ("deflate.npz", flipped(DEFLATED, 400), "is damaged"),
    ("garbage.h5", b"\x00" * 3000, "not a file of HDF5"),
    ("only_magic.h5", b"\x89HDF\r\n\x1a\n", "cannot be opened"),
    ("bad_superblock.h5", flipped(hdf5_bytes(), 13), "cannot be opened"),
    ("cut.h5", bytes(hdf5_bytes()[:3000]), "cannot be opened|cannot be read"),
    ("no_datasets.h5", None, "has no datasets"),
    ("bad_chunk.h5", flipped(GZIPPED, len(GZIPPED) - 900), "x in .* cannot be read"),
]


@pytest.mark.parametrize("name,data,reason", MALFORMED, ids=[m[0] for m in MALFORMED])
def test_malformed_files_are_refused_and_leave_nothing(db, tmp_path, name, data, reason):
    path = tmp_path / name
    if data is None:
        h5py.File(path, "w").close()
    else:
        path.write_bytes(data)
    db.store("A", ts.relation(np.ones((4, 4)), tile=(2, 2)))
    segments = tmp_path / "lab.tsdb" / "segments"
    before = {file.name: file.read_bytes() for file in segments.iterdir()}
    with pytest.raises(ts.Error, match=reason) as caught:
        db.import_file("X", path, tile=None)
    assert name in str(caught.value)
    assert not isinstance(caught.value, ts.InternalError)
    assert db.list() == ["A"]
    assert {file.name: file.read_bytes() for file in segments.iterdir()} == before


def test_what_is_not_there(db, tmp_path):
    with pytest.raises(ts.IoError, match="cannot open .*none.npy: No such file"):
        db.import_file("X", tmp_path / "none.npy")
    for name in ("none.npz", "none.h5"):
        with pytest.raises(ts.IoError, match="none.*No such file"):
            db.import_file("X", tmp_path / name)
    np.savez(tmp_path / "m.npz", a=np.ones(2), b=np.ones(3))
    with pytest.raises(ts.TypeError, match="m.npz has no array 'c'; it has a, b"):
        db.import_file("X", tmp_path / "m.npz", member="c")
    with pytest.raises(ts.TypeError, match="does not tell which format.*npy"):
        db.import_file("X", tmp_path / "x.unknown")
    with pytest.raises(ts.TypeError, match="there is no format 'nope'"):
        db.import_file("X", tmp_path / "x.npy", format="nope")
    with pytest.raises(ts.TypeError, match="there is no 'X'"):
        db.export_file("X", tmp_path / "x.npy")


def test_options_that_make_no_sense_are_refused(db, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((4, 4)))
    (tmp_path / "x.raw").write_bytes(bytes(32))
    for path, options, reason in [
            ("x.npy", {"shape": (4, 4)}, "npy has no use for the option shape"),
            ("x.npy", {"member": "a"}, "npy has no use for the option member"),
            ("x.npy", {"header": True}, "no use for the option header"),
            ("x.npy", {"tile": (2,)}, r"\[4x4\] cannot be cut into tiles of \[2\]"),
            ("x.npy", {"tile": (2, 0)}, "an extent is not positive"),
            ("x.npy", {"dtype": "f16"}, "f16"),
            ("x.raw", {"shape": (4,)}, "give its shape and its dtype"),
            ("x.raw", {"shape": (5,), "dtype": "f64"}, "x.raw has 32 bytes of elements"),
            ("x.raw", {"shape": (-4,), "dtype": "f64"}, "extent -4 is negative"),
            ("x.npy", {"delimiter": ";;"}, "a delimiter is one character")]:
        with pytest.raises(ts.Error, match=reason):
            db.import_file("X", tmp_path / path, **options)
    np.save(tmp_path / "wide.npy", np.zeros((20000, 10000), bool))
    with pytest.raises(ts.TypeError, match="would be 200000000 tiles"):
        db.import_file("X", tmp_path / "wide.npy", tile=(1, 1))
    assert db.list() == []


def test_a_name_that_is_taken_is_refused_before_the_file_is_read(db, tmp_path):
    db.store("A", ts.relation(np.ones(3), tile=(2,)))
    with pytest.raises(ts.TypeError, match="there is a 'A' already"):
        db.import_file("A", tmp_path / "not_there.npy")


# ---------------------------------------------------------------- whole or not at all

def test_an_export_that_fails_leaves_the_old_file(db, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((40, 40)))
    db.import_file("X", tmp_path / "x.npy", tile=(10, 10))
    for segment in (tmp_path / "lab.tsdb" / "segments").iterdir():
        segment.write_bytes(flipped(segment.read_bytes(), 9000))
    for target in ("x.npy", "x.npz", "x.h5", "x.raw"):
        (tmp_path / target).write_bytes(b"what was there")
        with pytest.raises(ts.IoError, match="the tile of X at .* is damaged"):
            db.export_file("X", tmp_path / target)
        assert (tmp_path / target).read_bytes() == b"what was there"
    assert sorted(os.listdir(tmp_path)) == ["lab.tsdb", "x.h5", "x.npy", "x.npz", "x.raw"]
    with pytest.raises(ts.IoError, match="no_such_folder"):
        db.export_file("X", tmp_path / "no_such_folder" / "x.npy")


def test_progress_goes_from_nothing_to_everything(db, tmp_path):
    x = np.random.default_rng(1).random((300, 200))
    np.save(tmp_path / "x.npy", x)
    news = []
    report = db.import_file("X", tmp_path / "x.npy", tile=(20, 20), progress=news.append,
                            progress_seconds=0)
    size = os.path.getsize(tmp_path / "x.npy")
    assert report["rows"] == 300 and report["bytes"] == size and report["names"] == ["X"]
    assert report["seconds"] > 0
    assert news[-1].rows == 300 and news[-1].bytes_done == news[-1].bytes == size
    assert all(a.rows <= b.rows and a.fraction <= b.fraction <= 1 for a, b in zip(news, news[1:]))
    assert news[-1].fraction == 1
    news.clear()
    db.export_file("X", tmp_path / "y.npy", progress=news.append, progress_seconds=0)
    assert news[-1].rows == 300 and news[-1].fraction == 1


def test_what_a_progress_function_raises_stops_the_import(db, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3000, 1000)))

    def no_more(_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        db.import_file("X", tmp_path / "x.npy", tile=(10, 10), progress=no_more, progress_seconds=0)
    assert db.list() == []
    assert list((tmp_path / "lab.tsdb" / "segments").iterdir()) == []


def test_ctrl_c_stops_an_import(db, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((4000, 1000)))
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            for number in range(1000):
                db.import_file(f"X{number}", tmp_path / "x.npy", tile=(5, 5))
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert db.check() == []


def test_the_formats_are_listed():
    formats = ts.formats()
    assert formats["npy"]["endings"] == [".npy"]
    assert {"npy", "npz", "raw", "hdf5"} <= set(formats)
    assert all(f["description"] for f in formats.values())


def test_hdf5_behind_links(db, tmp_path):
    path = tmp_path / "links.h5"
    with h5py.File(path, "w") as file:
        file["group/x"] = np.arange(6.0)
        file["soft"] = h5py.SoftLink("/group/x")
        file["folder"] = h5py.SoftLink("/group")
        file["dangling"] = h5py.SoftLink("/nowhere/x")
    for number, member in enumerate(["soft", "folder/x", "/soft", "group/x"]):
        db.import_file(f"X{number}", path, member=member)
        assert np.array_equal(db.read(f"X{number}").numpy(), np.arange(6.0))
    for member in ["dangling", "dangling/x", "folder", "folder/y"]:
        with pytest.raises(ts.TypeError, match="has no dataset"):
            db.import_file("Y", path, member=member)
