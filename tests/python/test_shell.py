"""The program `tessera`: what it prints, where, and how it ends."""
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest
import tessera as ts

PROGRAM = pathlib.Path(ts.__file__).resolve().parent.parent.parent / "tessera"


def tessera(*arguments):
    return subprocess.run([str(PROGRAM), *map(str, arguments)], text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def database(tmp_path):
    db = ts.connect(tmp_path / "lab.tsdb")
    db.store("X", ts.relation(np.arange(35.0).reshape(7, 5), tile=(3, 2)))
    db.store("ones", ts.relation(np.ones((40, 40)), tile=(20, 20)))
    return db


def test_version_and_help():
    assert tessera("--version").stdout.startswith("tessera ")
    said = tessera("--help")
    assert said.returncode == 0
    for word in ("DATABASE", "-c", "-f", "--format", "--memory-limit", "--threads", "--sites", "--trace", "check",
                 "export", "import", "list", "vacuum", "Exit status"):
        assert word in said.stdout
    assert tessera("check", "--help").returncode == 0


@pytest.mark.parametrize("arguments", [["bogus", "x"], ["check"], ["check", "a", "b"], ["--bogus"]])
def test_misuse(arguments):
    ended = tessera(*arguments)
    assert ended.returncode == 2 and ended.stdout == "" and "--help" in ended.stderr


@pytest.mark.parametrize("command", ["check", "list", "vacuum"])
def test_no_database(command, tmp_path):
    ended = tessera(command, tmp_path / "none")
    assert ended.returncode == (3 if command == "check" else 1)
    assert ended.stderr == f'IoError: database "{tmp_path}/none" does not exist\n'
    assert not (tmp_path / "none").exists()


def test_list(database):
    lines = tessera("list", database.folder).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "X", "ones"]
    assert "f64[3x2]" in lines[1] and "[7x5]" in lines[1]
    assert lines[2].endswith(str(database.info("ones")["bytes"]))


def test_check(database):
    ended = tessera("check", database.folder)
    assert (ended.returncode, ended.stdout) == (0, f"{database.folder}: no errors found\n")
    segment = next((pathlib.Path(database.folder) / "segments").iterdir())
    data = bytearray(segment.read_bytes())
    data[data.index(np.ones(20).tobytes()) + 50] ^= 1
    segment.write_bytes(data)
    ended = tessera("check", database.folder)
    assert ended.returncode == 1
    assert ended.stdout.startswith("ones at <0, 0>: the tile of \"ones\" at <0, 0> is damaged")
    assert len(ended.stdout.splitlines()) == 1


BLOCK = 4096  # files take whole ones


def room(folder):
    """Bytes of the disk that the files of a folder take."""
    return sum(512 * file.stat().st_blocks for file in pathlib.Path(folder).rglob("*") if file.is_file())


def test_vacuum(database):
    database.drop("ones")
    ended = tessera("vacuum", database.folder)
    freed = re.search(r": freed (\d+) bytes\n$", ended.stdout)
    assert ended.returncode == 0 and int(freed[1]) > 40 * 40 * 8 - BLOCK


def test_an_output_that_takes_nothing_is_an_error(database):
    with open("/dev/full", "w") as full:
        ended = subprocess.run([str(PROGRAM), "list", database.folder], stdout=full, text=True,
                               stderr=subprocess.PIPE, timeout=120)
    assert ended.returncode == 1 and "standard output" in ended.stderr


@pytest.mark.parametrize("fault, reason", [("no_space:write:1:0", "full|space"),
                                           ("io_error:sync:1:0", "Input/output error|I/O error")])
def test_a_failing_disk_is_told(database, fault, reason):
    library = PROGRAM.parent / "tests" / "libtest_disk.so"
    database.drop("ones")
    before = room(database.folder)
    ended = subprocess.run([str(PROGRAM), "vacuum", database.folder], text=True, timeout=120,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env={**os.environ, "LD_PRELOAD": str(library),
                                "TESSERA_DISK_FOLDER": database.folder,
                                "TESSERA_DISK_FAULT": fault})
    assert ended.returncode == 1 and re.match("IoError: .*(" + reason + ")", ended.stderr)
    assert tessera("check", database.folder).returncode == 0
    database.vacuum()
    assert database.list() == ["X"] and before - room(database.folder) > 40 * 40 * 8 - BLOCK
