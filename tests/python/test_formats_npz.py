"""Archives of arrays: read as NumPy wrote them, and written so that NumPy reads them."""
import io
import zipfile

import numpy as np
import pytest
import tessera as ts

from array_files import check, db, expect_refused, flipped, head, npy, sample, tile_of  # noqa: F401


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(db, tmp_path, save):  # noqa: F811
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


def test_an_archive_is_stored_as_a_whole_or_not_at_all(db, tmp_path):  # noqa: F811
    np.savez(tmp_path / "m.npz", a=np.ones(3), b=np.array(["text"]))
    with pytest.raises(ts.IoError, match="b in .*m.npz cannot be read: elements of type '<U4' \\(text\\)"):
        db.import_file("M", tmp_path / "m.npz")
    assert db.list() == []
    db.store("N.b", ts.relation(np.ones(2), tile=(2,)))
    np.savez(tmp_path / "n.npz", a=np.ones(3), b=np.ones(4))
    with pytest.raises(ts.TypeError, match='relation "N.b" already exists'):
        db.import_file("N", tmp_path / "n.npz")
    assert db.list() == ["N.b"]


def test_exported_archives_are_read_by_numpy(db, tmp_path):  # noqa: F811
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
    with pytest.raises(ts.TypeError, match="an npy file holds one array, not 3"):
        db.export_file(list(arrays), tmp_path / "all.npy")


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for name, data in members.items():
            zipped.writestr(name.replace("_npy", ".npy"), data)
    return file.getvalue()


def deflated():
    file = io.BytesIO()
    np.savez_compressed(file, x=np.random.default_rng(1).random(4000))
    return file.getvalue()


FLOATS = bytes(32)
GOOD_NPZ = archive(x_npy=npy(head(), FLOATS))
MALFORMED = [
    ("empty.npz", b"", "cannot be read as a zip archive"),
    ("text.npz", b"this is no archive" * 20, "cannot be read as a zip archive"),
    ("cut.npz", GOOD_NPZ[:-30], "cannot be read as a zip archive"),
    ("no_arrays.npz", archive(readme="hello"), "has no arrays"),
    ("bad_member.npz", archive(x_npy=b"nonsense"), "x in .* is not an npy file"),
    ("short_member.npz", archive(x_npy=npy(head(), FLOATS[:20])), "ends before its last"),
    ("long_member.npz", archive(x_npy=npy(head(), FLOATS + b"12")), "more data than its header says"),
    ("huge_member.npz", archive(x_npy=npy(head(shape="(100000000000,)"), FLOATS)), "ends before its last"),
    ("crc.npz", flipped(GOOD_NPZ, GOOD_NPZ.index(b"}\n") + 10), "damaged: CRC error"),
    ("deflate.npz", flipped(deflated(), 400), "is damaged"),
]


@pytest.mark.parametrize("name,data,reason", MALFORMED, ids=[m[0] for m in MALFORMED])
def test_malformed_files_are_refused_and_leave_nothing(db, tmp_path, name, data, reason):  # noqa: F811
    expect_refused(db, tmp_path, name, data, reason)
