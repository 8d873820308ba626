"""Statements that end in other ways than all at once: told to stop, damaged beside them, elsewhere."""
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tessera as ts

X = np.arange(35.0).reshape(7, 5)


class Stop(Exception):
    pass


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def relation():
    return ts.relation(X, tile=(3, 2))


def test_a_handle_stays_with_its_folder(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        ts.connect(tmp_path / name / "lab.tsdb")
    monkeypatch.chdir(tmp_path / "one")
    db = ts.connect("lab.tsdb")
    monkeypatch.chdir(tmp_path / "two")
    db.store("X", relation())
    assert db.list() == ["X"] and ts.connect("lab.tsdb").list() == []
    assert db.folder == str(tmp_path / "one" / "lab.tsdb")


def test_what_raises_at_the_end_has_not_happened(db, tmp_path):
    np.save(tmp_path / "x.npy", X)
    db.store("X", relation())
    (tmp_path / "out.npy").write_bytes(b"old")

    def last(news):
        if getattr(news, "fraction", 0) == 1 or getattr(news, "tasks", 0) == getattr(news, "tasks_done", -1):
            raise Stop

    for statement in (lambda: db.import_file("Y", tmp_path / "x.npy", progress=last),
                      lambda: db.store("Y", db.plan("X").transform("neg"), progress=last),
                      lambda: db.export_file("X", tmp_path / "out.npy", progress=last)):
        with pytest.raises(Stop):
            statement()
    assert db.list() == ["X"] and (tmp_path / "out.npy").read_bytes() == b"old"


@pytest.mark.parametrize("statement", [
    "db.store('Y', db.read('X'))", "db.store('Y', db.plan('X'))", "db.drop('X')", "db.rename('X', 'Y')",
    "db.import_file('Y', sys.argv[2])"])
def test_who_waits_for_the_lock_hears_a_stop(db, tmp_path, statement):
    np.save(tmp_path / "x.npy", X)
    db.store("X", relation())
    program = f"""
import sys, tessera as ts
db = ts.connect(sys.argv[1], lock_seconds=1000)
print("waits", flush=True)
try:
    {statement}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with open(os.path.join(db.folder, "lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = subprocess.Popen([sys.executable, "-c", program, db.folder, tmp_path / "x.npy"], text=True,
                               stdout=subprocess.PIPE)
        assert job.stdout.readline() == "waits\n"
        time.sleep(0.3)
        job.send_signal(signal.SIGINT)
        assert job.communicate(timeout=30)[0] == "stopped\n"
    assert db.list() == ["X"]


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_seconds_that_are_none(tmp_path, seconds):
    with pytest.raises(ts.TypeError, match="lock_seconds"):
        ts.connect(tmp_path / "lab.tsdb", lock_seconds=seconds)


@pytest.mark.parametrize("options", [{"memory": -1}, {"threads": -1}])
def test_limits_that_are_none(db, tmp_path, options):
    np.save(tmp_path / "x.npy", X)
    db.store("X", relation())
    for statement in (lambda: db.import_file("Y", tmp_path / "x.npy", **options),
                      lambda: db.export_file("X", tmp_path / "y.npy", **options)):
        with pytest.raises(ts.TypeError, match="|".join(options)):
            statement()


def test_a_server_that_does_not_answer_is_left_at_a_stop(db):
    """One that accepts and says nothing."""
    import socket
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        place = f"postgresql://me:secret@127.0.0.1:{server.getsockname()[1]}/x?connect_timeout=1000"
        timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            db.import_file("Y", place, query="SELECT 1, 2")
        timer.join()
        with pytest.raises(ts.IoError, match="no answer after 1 s") as said:
            db.import_file("Y", place.replace("1000", "1"), query="SELECT 1, 2")
        assert "secret" not in str(said.value)
