"""`tessera import` and `tessera export`."""
import os
import pathlib
import pty
import signal
import subprocess
import time

import numpy as np
import pytest
import tessera as ts

PROGRAM = pathlib.Path(ts.__file__).resolve().parent.parent.parent / "tessera"


def tessera(*arguments, **options):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_there_and_back(tmp_path):
    x = np.random.default_rng(1).integers(0, 9, (70, 50))
    np.save(tmp_path / "x.npy", x.astype("i2"))
    database = tmp_path / "lab.tsdb"
    ended = tessera("import", database, "X", tmp_path / "x.npy", "--tile", "20x30", "--dtype", "f64")
    assert ended.returncode == 0 and ended.stdout.startswith("X: 70 rows, 7128 bytes, ")
    assert ended.stderr == f"created database {database}\n"
    info = ts.connect(database).info("X")
    assert info["shape"] == (70, 50) and "f64[20x30]" in info["type"]
    tessera("import", database, "Y", tmp_path / "x.npy")
    ended = tessera("export", database, "X,Y", tmp_path / "both.npz")
    assert ended.returncode == 0 and ended.stdout.startswith("X, Y: 140 rows, ")
    with np.load(tmp_path / "both.npz") as both:
        assert np.array_equal(both["X"], x) and np.array_equal(both["Y"], x)
    assert tessera("export", database, "X", tmp_path / "x.bin", "--column-major").returncode == 0
    assert np.array_equal(np.fromfile(tmp_path / "x.bin").reshape((70, 50), order="F"), x)


def test_what_is_piped_is_the_file_alone(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4).reshape(2, 2))
    tessera("import", tmp_path / "lab.tsdb", "X", tmp_path / "x.npy")
    ended = tessera("export", tmp_path / "lab.tsdb", "X", "/dev/stdout", "--format", "csv")
    assert ended.returncode == 0 and ended.stdout == "0,1\n2,3\n"
    assert ended.stderr.startswith("X: 2 rows, 8 bytes, ")


@pytest.mark.parametrize("options,reason", [
    (["--tile", "10xx10"], "--tile must be a number"), (["--tile", "10"], "cannot be cut"),
    (["--dtype", "f16"], "f16"), (["--format", "nope"], 'unknown format "nope"'),
    (["--header", "perhaps"], "--header must be yes or no"), (["--delimiter", ";;"], "a single character")])
def test_what_is_wrong_is_said(tmp_path, options, reason):
    np.save(tmp_path / "x.npy", np.ones((5, 5)))
    ended = tessera("import", tmp_path / "lab.tsdb", "X", tmp_path / "x.npy", *options)
    assert ended.returncode == 1 and ended.stdout == ""
    assert "TypeError: " in ended.stderr and reason in ended.stderr
    assert not (tmp_path / "lab.tsdb").exists() or ts.connect(tmp_path / "lab.tsdb").list() == []


def test_misuse(tmp_path):
    for command in ("import", "export"):
        assert tessera(command, tmp_path / "lab.tsdb", "X").returncode == 2
    ended = tessera("export", tmp_path / "none.tsdb", "X", tmp_path / "x.npy")
    assert ended.returncode == 1 and "does not exist" in ended.stderr


def test_a_terminal_sees_how_far_it_is(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1000, 1000)))
    here, there = pty.openpty()
    ended = subprocess.run([str(PROGRAM), "import", tmp_path / "lab.tsdb", "X", tmp_path / "x.npy"],
                           stdout=subprocess.PIPE, stderr=there, timeout=120)
    os.close(there)
    said = b""
    try:
        while piece := os.read(here, 4096):
            said += piece
    except OSError:  # the other end is closed
        pass
    os.close(here)
    assert ended.returncode == 0 and b"100%  1000 rows" in said and said.endswith(b"\r\x1b[K")


@pytest.mark.parametrize("option", ["--memory=-1", "--memory=nan", "--memory=inf", "--memory=1e30",
                                    "--threads=-1", "--tile="])
def test_values_that_are_none(tmp_path, option):
    np.save(tmp_path / "x.npy", np.ones(3))
    ended = tessera("import", tmp_path / "lab.tsdb", "X", tmp_path / "x.npy", option)
    assert ended.returncode in (1, 2) and option.split("=")[0][2:] in ended.stderr


def test_a_tile_a_row_is_for_exports_too(tmp_path):
    assert "--tile-a-row" in tessera("export", "--help").stdout


def test_a_terminal_obeys_nothing_that_is_in_a_file(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"1,2\n1,\x1b[31m\n")
    ended = tessera("import", tmp_path / "lab.tsdb", "X", tmp_path / "x.csv")
    assert ended.returncode == 1 and "\x1b" not in ended.stderr and r"\x1b" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_take_back_what_is_under_way(tmp_path, number):
    database = tmp_path / "lab.tsdb"
    ts.connect(database).store("X", ts.relation(np.ones((400, 300)), tile=(100, 100)))
    os.mkfifo(tmp_path / "pipe")  # whose reader does not come
    job = subprocess.Popen([str(PROGRAM), "export", str(database), "X", str(tmp_path / "pipe"), "--format",
                            "npy"], stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    job.send_signal(number)
    said = job.communicate(timeout=30)[1]
    assert job.returncode == 1 and "Interrupted" in said
