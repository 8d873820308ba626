"""Datasets of HDF5: read as h5py wrote them, and written so that h5py reads them."""
import io

import h5py
import numpy as np
import pytest
import tessera as ts

from array_files import KINDS, check, db, expect_refused, flipped, sample, tile_of  # noqa: F401


@pytest.mark.parametrize("kind", KINDS)
def test_hdf5_of_every_type_and_layout(db, tmp_path, kind):  # noqa: F811
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


def test_datasets_by_name(db, tmp_path):  # noqa: F811
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a"], file["g/b"] = np.arange(3), np.arange(4.0)
        file["text"] = "no numbers"
        file["long"] = np.arange(3, dtype=np.longdouble)
        file["far"] = np.array([2**64 - 1], np.uint64)
        file["wide"] = np.zeros((1,) * 9)
    with pytest.raises(ts.TypeError, match="several datasets.*a, far, g/b, long, text, wide"):
        db.import_file("X", tmp_path / "x.h5")
    with pytest.raises(ts.TypeError, match="no dataset \"c\"; existing: a, far, g/b"):
        db.import_file("X", tmp_path / "x.h5", member="c")
    with pytest.raises(ts.TypeError, match="text in .*x.h5 does not have numbers"):
        db.import_file("X", tmp_path / "x.h5", member="text")
    with pytest.raises(ts.ValueError, match="far in .*x.h5 has the value 18446744073709551615"):
        db.import_file("X", tmp_path / "x.h5", member="far")
    with pytest.raises(ts.TypeError, match="9 dimensions"):
        db.import_file("X", tmp_path / "x.h5", member="wide")
    db.import_file("X", tmp_path / "x.h5", member="/g/b")
    check(db, "X", np.arange(4.0))
    db.import_file("L", tmp_path / "x.h5", member="long")
    check(db, "L", np.arange(3.0))


def test_hdf5_behind_links(db, tmp_path):  # noqa: F811
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


def test_hdf5_that_names_other_files(db, tmp_path):  # noqa: F811
    x = np.arange(6.0)
    (tmp_path / "elements.raw").write_bytes(x.tobytes())
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file["group/x"] = x
    path = tmp_path / "naming.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("outside", (6,), "f8", external=[(str(tmp_path / "elements.raw"), 0, 48)])
        layout = h5py.VirtualLayout((6,), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "source.h5"), "group/x", (6,))
        file.create_virtual_dataset("virtual", layout)
        file["link"] = h5py.ExternalLink(str(tmp_path / "source.h5"), "/group/x")
        file["folder"] = h5py.ExternalLink(str(tmp_path / "source.h5"), "/group")
        file["soft"] = h5py.SoftLink("/folder/x")
        file["own"] = x
    for member in ["outside", "virtual", "link", "folder/x"]:
        with pytest.raises(ts.IoError, match="other files; they are read only with the option external_files"):
            db.import_file("Y", path, member=member)
    with pytest.raises(ts.TypeError, match='has no dataset "soft"'):
        db.import_file("Y", path, member="soft")
    db.import_file("own", path, member="own")
    for number, member in enumerate(["outside", "virtual", "link", "folder/x", "soft"]):
        db.import_file(f"X{number}", path, member=member, external_files=True)
        assert np.array_equal(db.read(f"X{number}").numpy(), x)
    db.sql(f"CREATE TENSOR S FROM '{path}' WITH (member = 'outside', external_files = true)")
    for access in ["off", [tmp_path]]:
        with pytest.raises(ts.IoError, match="external_access"):
            db.session(external_access=access).sql(
                f"CREATE TENSOR T FROM '{path}' WITH (member = 'outside', external_files = true)")


def test_exported_hdf5_is_read_by_h5py(db, tmp_path):  # noqa: F811
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


def test_hdf5_says_nothing_on_stderr(db, tmp_path, capfd):  # noqa: F811
    (tmp_path / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\x07" * 600)
    with pytest.raises(ts.IoError):
        db.import_file("X", tmp_path / "bad.h5")
    assert capfd.readouterr().err == ""


def hdf5_bytes(**options):
    file = io.BytesIO()
    with h5py.File(file, "w") as made:
        made.create_dataset("x", data=np.arange(5000.0).reshape(100, 50), **options)
    return bytearray(file.getvalue())


def without_datasets():
    file = io.BytesIO()
    h5py.File(file, "w").close()
    return file.getvalue()


GZIPPED = hdf5_bytes(chunks=(10, 50), compression="gzip", fletcher32=True)
MALFORMED = [
    ("garbage.h5", b"\x00" * 3000, "not an HDF5 file"),
    ("only_magic.h5", b"\x89HDF\r\n\x1a\n", "cannot be opened"),
    ("bad_superblock.h5", flipped(hdf5_bytes(), 13), "cannot be opened"),
    ("cut.h5", bytes(hdf5_bytes()[:3000]), "cannot be opened|cannot be read"),
    ("no_datasets.h5", without_datasets(), "has no datasets"),
    ("bad_chunk.h5", flipped(GZIPPED, len(GZIPPED) - 900), "x in .* cannot be read"),
]


@pytest.mark.parametrize("name,data,reason", MALFORMED, ids=[m[0] for m in MALFORMED])
def test_malformed_files_are_refused_and_leave_nothing(db, tmp_path, name, data, reason):  # noqa: F811
    expect_refused(db, tmp_path, name, data, reason)
