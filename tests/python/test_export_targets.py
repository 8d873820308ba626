"""What an export writes to, beyond a new file: links, pipes, devices, files that are there, by several at
once; and what is left of it when it ends in the middle."""
import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import tessera as ts

X = np.arange(600.0).reshape(30, 20)
FORMATS = ["npy", "npz", "raw", "hdf5", "csv", "mtx"]


@pytest.fixture
def db(tmp_path):
    database = ts.connect(tmp_path / "lab.tsdb")
    database.store("X", ts.relation(X, tile=(7, 9)))
    return database


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_is_complete_and_nothing_is_beside_it(db, out, format):
    for _ in range(2):  # new, and in the place of the first
        db.export_file("X", out / "x", format=format)
        assert os.listdir(out) == ["x"]
    whole = (out / "x").read_bytes()
    db.export_file("X", out / "y", format=format)
    assert len(whole) == len((out / "y").read_bytes()) > 600


def test_a_file_that_is_there_keeps_its_mode(db, out):
    (out / "x.npy").write_bytes(b"old")
    (out / "x.npy").chmod(0o600)
    db.export_file("X", out / "x.npy")
    assert stat.S_IMODE((out / "x.npy").stat().st_mode) == 0o600
    old = os.umask(0o027)
    try:
        db.export_file("X", out / "new.npy")
    finally:
        os.umask(old)
    assert stat.S_IMODE((out / "new.npy").stat().st_mode) == 0o640


def test_links_are_followed(db, out):
    (out / "real").mkdir()
    (out / "real" / "x.npy").write_bytes(b"old")
    (out / "there.npy").symlink_to("real/x.npy")
    (out / "dangling.npy").symlink_to("real/new.npy")
    for link, file in [("there.npy", "x.npy"), ("dangling.npy", "new.npy")]:
        db.export_file("X", out / link)
        assert (out / link).is_symlink()
        assert np.array_equal(np.load(out / "real" / file), X)
    assert sorted(os.listdir(out / "real")) == ["new.npy", "x.npy"]
    with pytest.raises(ts.IoError, match="real: it is a folder"):
        db.export_file("X", out / "real", format="npy")


@pytest.mark.parametrize("format", FORMATS)
def test_a_pipe_gets_what_a_file_would(db, out, format):
    pipe = out / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    db.export_file("X", pipe, format=format)
    reader.join()
    db.export_file("X", out / "file", format=format)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert len(read[0]) == (out / "file").stat().st_size
    if format in ("npy", "raw", "csv", "mtx"):
        assert read[0] == (out / "file").read_bytes()


def test_a_pipe_whose_reader_goes_is_an_error(db, out):
    db.store("large", ts.relation(np.zeros((1000, 500)), tile=(500, 500)))
    os.mkfifo(out / "pipe")

    def look():
        with open(out / "pipe", "rb") as pipe:
            pipe.read(10)

    reader = threading.Thread(target=look)
    reader.start()
    with pytest.raises(ts.IoError, match="pipe: Broken pipe"):
        db.export_file("large", out / "pipe", format="raw")
    reader.join()


def test_a_device_stays_one(db, out):
    try:
        os.mknod(out / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        open(out / "null", "wb").close()
    except OSError:
        pytest.skip("no devices can be made here")
    db.export_file("X", out / "null", format="npy")
    assert stat.S_ISCHR((out / "null").lstat().st_mode)


def test_rows_go_where_tensors_do(db, out):
    db.sql("CREATE TABLE t (i INT, v DOUBLE)")
    db.sql("INSERT INTO t VALUES (0, 1.5)")
    (out / "real.csv").write_bytes(b"old")
    (out / "real.csv").chmod(0o600)
    (out / "link.csv").symlink_to("real.csv")
    db.sql("COPY t TO ?", [str(out / "link.csv")])
    assert (out / "link.csv").is_symlink()
    assert (out / "real.csv").read_text() == "i,v\n0,1.5\n"
    assert stat.S_IMODE((out / "real.csv").stat().st_mode) == 0o600

    os.mkfifo(out / "pipe.csv")
    read = []
    reader = threading.Thread(target=lambda: read.append((out / "pipe.csv").read_bytes()))
    reader.start()
    db.sql("COPY (SELECT v FROM t) TO ?", [str(out / "pipe.csv")])
    reader.join()
    assert stat.S_ISFIFO((out / "pipe.csv").lstat().st_mode) and read == [b"v\n1.5\n"]
    assert sorted(os.listdir(out)) == ["link.csv", "pipe.csv", "real.csv"]


def test_what_a_descriptor_has_open_is_written_on(db, out):
    with open(out / "x.csv", "wb") as file:
        file.write(b"before\n")
        file.flush()
        db.export_file("X", f"/dev/fd/{file.fileno()}", format="csv")
        file.seek(0, os.SEEK_END)
        file.write(b"after\n")
    db.export_file("X", out / "alone.csv")
    assert (out / "x.csv").read_bytes() == b"before\n" + (out / "alone.csv").read_bytes() + b"after\n"


def test_the_files_of_a_database_are_not_replaced(db, out):
    folder = out.parent / "lab.tsdb"
    (out / "link").symlink_to(folder / "catalog.2")
    segment = next((folder / "segments").iterdir())
    for target in [folder / "catalog.2", folder / "new", segment, out / "link"]:
        with pytest.raises(ts.IoError, match="belongs to a database; choose another folder"):
            db.export_file("X", target, format="npy")
    assert db.check() == [] and np.array_equal(ts.connect(folder).read("X").numpy(), X)


def test_a_name_as_long_as_names_can_be(db, out):
    db.export_file("X", out / ("x" * 251 + ".npy"))
    assert np.array_equal(np.load(out / ("x" * 251 + ".npy")), X)


def test_several_threads_to_one_file(db, out):
    db.store("Y", ts.relation(X + 1, tile=(7, 9)))
    errors = []

    def export(name):
        try:
            for _ in range(20):
                db.export_file(name, out / "x.npz")
        except Exception as error:  # of either
            errors.append(error)

    threads = [threading.Thread(target=export, args=[name]) for name in "XY"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and os.listdir(out) == ["x.npz"]
    (name,) = np.load(out / "x.npz").files
    assert np.array_equal(np.load(out / "x.npz")[name], X + "XY".index(name))


def test_errors_name_the_file_that_was_asked_for(db, out):
    with pytest.raises(ts.IoError, match="none"):
        db.export_file("X", out / "none" / "x.npy")
    with pytest.raises(ts.TypeError, match="x.npz would have two arrays named \"X"):
        db.export_file(["X", "X"], out / "x.npz")
    with pytest.raises(ts.TypeError, match="x.h5 would have two datasets named \"X\""):
        db.export_file(["X", "X"], out / "x.h5")
    db.store(".", ts.relation(X, tile=(7, 9)))
    with pytest.raises(ts.TypeError, match="\"\\.\" cannot be the name of a dataset"):
        db.export_file(".", out / "x.h5")
    assert os.listdir(out) == []


@pytest.mark.parametrize("format", ["npy", "npz", "csv", "hdf5"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_ended_leaves_nothing(db, out, format, number):
    program = """
import os, signal, sys, tessera as ts
db = ts.connect(sys.argv[1], read_only=True)
db.export_file("X", sys.argv[2], format=sys.argv[3], progress_seconds=0,
               progress=lambda news: os.kill(os.getpid(), int(sys.argv[4])))
"""
    (out / "x").write_bytes(b"old")
    ended = subprocess.run([sys.executable, "-c", program, db.folder, out / "x", format,
                            str(int(number))], timeout=60)
    assert ended.returncode == -number
    assert os.listdir(out) == ["x"] and (out / "x").read_bytes() == b"old"
