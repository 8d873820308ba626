"""Files of arrays, whatever their format: what is the same for NumPy's, raw ones and HDF5."""
import os
import signal
import threading

import h5py
import numpy as np
import pytest
import tessera as ts

from array_files import check, db, flipped, sample  # noqa: F401


@pytest.mark.parametrize("memory", [1, 5000, 60_000, 1 << 26])
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_and_threads_change_nothing(db, tmp_path, memory, threads):  # noqa: F811
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


def test_statistics_are_gathered_on_the_way(db, tmp_path):  # noqa: F811
    x = np.random.default_rng(1).integers(-3, 4, (50, 30))
    np.save(tmp_path / "x.npy", x)
    db.import_file("X", tmp_path / "x.npy", tile=(7, 11))
    statistics = db.info("X")["statistics"]
    assert statistics == ts.relation(x, tile=(7, 11)).statistics()
    assert statistics["nonzeros"] == np.count_nonzero(x) and statistics["min"] == x.min()


def test_tiles_are_chosen_near_to_square_and_of_8_megabytes(db, tmp_path):  # noqa: F811
    for shape, tile in [((3000, 2500), "1500x1250"), ((10**7,), "2000000"), ((4, 3_000_000), "4x500000"),
                        ((200, 300, 250), "100x150x125"), ((0, 10**6), "0x1000000"), ((), "")]:
        np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
        db.import_file("X", tmp_path / "x.npy")
        assert db.info("X")["type"].endswith(f"-> f32[{tile}]")
        db.drop("X")


def test_sparse_tensors_are_written_dense(db, tmp_path):  # noqa: F811
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


def test_zeros_that_fit_nowhere_are_refused_before_they_are_made(db, tmp_path):  # noqa: F811
    for name, shape in [("wide", "3 1000000000000"), ("vast", "2000000000 2000000000")]:
        (tmp_path / name).write_text(f"%%MatrixMarket matrix coordinate real general\n{shape} 1\n1 1 5\n")
        db.import_file(name, tmp_path / name, format="mtx")
    for ending in ["npy", "npz", "raw", "h5", "csv"]:
        with pytest.raises(ts.OutOfMemory, match="cannot export \"wide\": with its zeros it needs .* GB.*sparse format"):
            db.export_file("wide", tmp_path / f"x.{ending}")
    with pytest.raises(ts.IoError, match="vast: an array of shape .* is too large"):
        db.export_file("vast", tmp_path / "x.npy")
    assert sorted(os.listdir(tmp_path)) == ["lab.tsdb", "vast", "wide"]
    db.export_file("wide", tmp_path / "x.mtx")
    assert (tmp_path / "x.mtx").read_text() == (tmp_path / "wide").read_text()


def test_what_is_not_there(db, tmp_path):  # noqa: F811
    with pytest.raises(ts.IoError, match="cannot open .*none.npy: No such file"):
        db.import_file("X", tmp_path / "none.npy")
    for name in ("none.npz", "none.h5"):
        with pytest.raises(ts.IoError, match="none.*No such file"):
            db.import_file("X", tmp_path / name)
    np.savez(tmp_path / "m.npz", a=np.ones(2), b=np.ones(3))
    with pytest.raises(ts.TypeError, match="m.npz has no array \"c\"; existing: a, b"):
        db.import_file("X", tmp_path / "m.npz", member="c")
    with pytest.raises(ts.TypeError, match="cannot tell the format.*npy"):
        db.import_file("X", tmp_path / "x.unknown")
    with pytest.raises(ts.TypeError, match='unknown format "nope"'):
        db.import_file("X", tmp_path / "x.npy", format="nope")
    with pytest.raises(ts.TypeError, match='relation "X" not found'):
        db.export_file("X", tmp_path / "x.npy")


@pytest.mark.parametrize("format", ["npy", "npz", "raw", "hdf5", "csv", "triples", "mtx", "svmlight", "extreme"])
def test_a_pipe_is_refused_and_not_waited_for(db, tmp_path, format):  # noqa: F811
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ts.IoError, match="pipe is a pipe or a device, and only files can be read"):
        db.import_file("X", tmp_path / "pipe", format=format)
    assert db.list() == []


def test_options_that_make_no_sense_are_refused(db, tmp_path):  # noqa: F811
    np.save(tmp_path / "x.npy", np.ones((4, 4)))
    (tmp_path / "x.raw").write_bytes(bytes(32))
    for path, options, reason in [
            ("x.npy", {"shape": (4, 4)}, "format npy does not support the option shape"),
            ("x.npy", {"member": "a"}, "format npy does not support the option member"),
            ("x.npy", {"header": True}, "does not support the option header"),
            ("x.npy", {"tile": (2,)}, r"\[4x4\] cannot be cut into tiles of \[2\]"),
            ("x.npy", {"tile": (2, 0)}, "tile sizes must be positive"),
            ("x.npy", {"dtype": "f16"}, "f16"),
            ("x.raw", {"shape": (4,)}, "give its shape and dtype"),
            ("x.raw", {"shape": (5,), "dtype": "f64"}, "x.raw has 32 bytes of data"),
            ("x.raw", {"shape": (-4,), "dtype": "f64"}, "negative dimension"),
            ("x.npy", {"threads": 100_000}, "threads=100000: it must be 1 to 4096"),
            ("x.npy", {"delimiter": ";;"}, "the delimiter must be a single character")]:
        with pytest.raises(ts.Error, match=reason):
            db.import_file("X", tmp_path / path, **options)
    np.save(tmp_path / "wide.npy", np.zeros((20000, 10000), bool))
    with pytest.raises(ts.TypeError, match="would be cut into 200000000 tiles"):
        db.import_file("X", tmp_path / "wide.npy", tile=(1, 1))
    assert db.list() == []


def test_a_name_that_is_taken_is_refused_before_the_file_is_read(db, tmp_path):  # noqa: F811
    db.store("A", ts.relation(np.ones(3), tile=(2,)))
    with pytest.raises(ts.TypeError, match='relation "A" already exists'):
        db.import_file("A", tmp_path / "not_there.npy")


def test_an_export_that_fails_leaves_the_old_file(db, tmp_path):  # noqa: F811
    np.save(tmp_path / "x.npy", np.ones((40, 40)))
    db.import_file("X", tmp_path / "x.npy", tile=(10, 10))
    for segment in (tmp_path / "lab.tsdb" / "segments").iterdir():
        segment.write_bytes(flipped(segment.read_bytes(), 9000))
    for target in ("x.npy", "x.npz", "x.h5", "x.raw"):
        (tmp_path / target).write_bytes(b"what was there")
        with pytest.raises(ts.IoError, match="the tile of \"X\" at .* is damaged"):
            db.export_file("X", tmp_path / target)
        assert (tmp_path / target).read_bytes() == b"what was there"
    assert sorted(os.listdir(tmp_path)) == ["lab.tsdb", "x.h5", "x.npy", "x.npz", "x.raw"]
    with pytest.raises(ts.IoError, match="no_such_folder"):
        db.export_file("X", tmp_path / "no_such_folder" / "x.npy")


def test_progress_goes_from_nothing_to_everything(db, tmp_path):  # noqa: F811
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


def test_what_a_progress_function_raises_stops_the_import(db, tmp_path):  # noqa: F811
    np.save(tmp_path / "x.npy", np.ones((3000, 1000)))

    def no_more(_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        db.import_file("X", tmp_path / "x.npy", tile=(10, 10), progress=no_more, progress_seconds=0)
    assert db.list() == []
    assert list((tmp_path / "lab.tsdb" / "segments").iterdir()) == []


def test_ctrl_c_stops_an_import(db, tmp_path):  # noqa: F811
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
