"""Databases under mpirun: each process stores its part, the catalogue is one, and errors leave nothing."""
import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest
import tessera as ts

from test_cluster import BUILD, ENVIRONMENT, command, pytestmark, run  # noqa: F401

PROGRAM = BUILD / "tests" / "database_program"


def segments(folder):
    return sorted(path.name for path in (folder / "segments").iterdir())


@pytest.mark.parametrize("writers", [1, 2, 3])
def test_what_some_have_written_others_read(tmp_path, writers):
    folder = tmp_path / "db"
    ended = run(writers, PROGRAM, "write", folder)
    assert ended.returncode == 0, ended.stderr
    assert len(segments(folder)) >= writers
    for readers in [1, 2, 4]:
        ended = run(readers, PROGRAM, "read", folder)
        assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr
    alone = subprocess.run([PROGRAM, "read", folder], capture_output=True, text=True, timeout=60)
    assert alone.returncode == 0, alone.stderr


@pytest.mark.parametrize("writers", [1, 3])
def test_changes_and_appends_and_codes_of_several_are_one(tmp_path, writers):
    folder = tmp_path / "db"
    ended = run(writers, PROGRAM, "change", folder)
    assert ended.returncode == 0, ended.stderr
    for readers in [1, 2]:
        ended = run(readers, PROGRAM, "changed", folder)
        assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr
    alone = subprocess.run([PROGRAM, "changed", folder], capture_output=True, text=True, timeout=60)
    assert alone.returncode == 0, alone.stderr


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_temporary_database_is_one_and_goes_with_the_last_process(tmp_path, ranks):
    ended = run(ranks, PROGRAM, "temporary", TMPDIR=str(tmp_path))
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr
    folders = re.findall(r"folder (\S+)", ended.stdout)
    assert len(folders) == ranks and len(set(folders)) == 1 and folders[0].startswith(str(tmp_path))
    assert not list(tmp_path.glob("tessera-temporary-*"))


def test_what_one_process_has_written_several_add_to(tmp_path):
    db = ts.connect(tmp_path / "db")
    ones = np.ones((30, 30))
    db.store("old", ts.relation(ones, tile=(10, 10)))
    ended = run(3, PROGRAM, "write", tmp_path / "db")
    assert ended.returncode == 0, ended.stderr
    assert np.array_equal(db.read("old").numpy(), ones) and db.check() == []
    before = db.read("C").numpy()
    for name in ["A", "B", "holed", "old", "single", "turned"]:
        db.drop(name)
    assert db.vacuum() > 0
    assert db.list() == ["C"] and db.check() == [] and np.array_equal(db.read("C").numpy(), before)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("mode, last_says, others_say", [
    ("failing_kernel", "ValueError: brittle", "ClusterError: rank 2: brittle"),
    ("full_disk", "IoError: cannot write", "ClusterError: rank 2: cannot write"),
    ("little_memory", "OutOfMemory: the run needs", "ClusterError: rank 2: the run needs"),
    ("taken_name", 'TypeError: relation "before" already exists', 'TypeError: relation "before" already exists'),
    ("unknown_name", 'TypeError: relation "nothing" not found', 'TypeError: relation "nothing" not found'),
    ("taken_key", 'TypeError: cannot append to "before"', 'TypeError: cannot append to "before"'),
])
def test_an_error_in_one_process_leaves_nothing(tmp_path, ranks, mode, last_says, others_say):
    ended = run(ranks, PROGRAM, mode, tmp_path / "db")
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stdout + ended.stderr
    for rank in range(ranks):
        assert f"rank {rank} {last_says if rank == ranks - 1 else others_say}" in ended.stdout
    db = ts.connect(tmp_path / "db")
    assert db.list() == ["after", "before", "sum"] and db.check() == []


def test_an_append_that_the_first_refuses_at_the_end_leaves_nothing(tmp_path):
    ended = run(3, PROGRAM, "taken_key_of_result", tmp_path / "db")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert 'rank 0 TypeError: cannot append to "R"' in ended.stdout
    assert ended.stdout.count('ClusterError: rank 0: cannot append to "R"') == 2
    db = ts.connect(tmp_path / "db")
    assert db.list() == ["after", "before", "sum"] and db.check() == []


def test_strings_that_differ_are_told_to_all(tmp_path):
    ended = run(3, PROGRAM, "other_strings", tmp_path / "db")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("IoError: ranks 0 and 1 execute different statements: append to \"words\"") == 3


def test_statements_that_differ_are_told_to_all(tmp_path):
    ended = run(3, PROGRAM, "other_statement", tmp_path / "db")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("ranks 0 and 1 execute different statements: rename \"before\"") == 3


def test_two_states_of_a_database_are_never_mixed(tmp_path):
    ended = run(3, PROGRAM, "other_state", tmp_path / "db")
    assert ended.returncode != 0
    assert "do not run the same plan" in ended.stderr and "of the same relations" in ended.stderr
    db = ts.connect(tmp_path / "db")
    assert db.list() == ["X"] and db.check() == []


def test_one_process_reads_by_itself(tmp_path):
    assert run(2, PROGRAM, "write", tmp_path / "db").returncode == 0
    ended = run(3, PROGRAM, "reading_alone", tmp_path / "db")
    assert ended.returncode == 0, ended.stderr


def test_the_first_process_imports_for_all(tmp_path):
    array = np.random.default_rng(1).random((20, 30))
    np.save(tmp_path / "array.npy", array)
    ended = run(3, PROGRAM, "import", tmp_path / "db", tmp_path / "array.npy")
    assert ended.returncode == 0, ended.stderr
    assert np.array_equal(ts.connect(tmp_path / "db").read("file").numpy(), array)
    missing = run(3, PROGRAM, "import", tmp_path / "other", tmp_path / "missing.npy")
    assert missing.returncode != 0 and "missing.npy" in missing.stderr


@pytest.mark.parametrize("limit", [300_000, 600_000])
def test_products_that_do_not_fit_into_the_memory_of_the_processes(tmp_path, limit):
    ended = run(3, PROGRAM, "small_memory", tmp_path / "db", str(limit))
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr
    assert sum(int(n) for n in re.findall(r"spilled (\d+)", ended.stdout)) > 0
    assert ts.connect(tmp_path / "db").check() == []


@pytest.mark.parametrize("victim", [0, 2])
def test_a_process_that_is_killed_leaves_nothing(tmp_path, victim):
    folder = tmp_path / "db"
    job = subprocess.Popen(command(3, PROGRAM, "long_store", folder), env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pids = {}
        while len(pids) < 3:
            match = re.search(r"pid (\d+) rank (\d+)", job.stdout.readline())
            assert match, "the job ended before it began"
            pids[int(match[2])] = int(match[1])
        while len(segments(folder)) < 3:  # those that are not the first make new ones
            assert job.poll() is None
        os.kill(pids[victim], signal.SIGKILL)
        job.communicate(timeout=30)
        assert job.returncode != 0
    finally:
        job.kill()
    db = ts.connect(folder)
    assert db.list() == ["before"] and db.check() == []
    assert segments(folder) == ["00000001.seg"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_session_of_one_process_alone_beside_those_of_all(tmp_path, ranks):
    ended = run(ranks, PROGRAM, "own_database", tmp_path)
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stdout + ended.stderr
    assert ts.connect(tmp_path / "own").list() == ["X", "Y", "t"]
    assert ts.connect(tmp_path / "all").list() == ["A", "B"]
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    plans = re.findall(r"^plan of rank \d+: (.*)$", ended.stdout, re.M)
    assert len(plans) == ranks and len(set(plans)) == 1 and "memory: " in plans[0]


def test_relations_that_differ_are_not_mixed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import os, sys, numpy as np, tessera as ts
db = ts.connect(sys.argv[1])
x = np.ones((12, 10))
x[7, 3] += int(os.environ["OMPI_COMM_WORLD_RANK"])
try:
    db.store("X", ts.relation(x, (5, 4)))
except ts.Error as error:
    print("refused" if "execute different statements" in str(error) else error, flush=True)
print(db.list(), flush=True)
""")
    ended = subprocess.run(command(3, "/usr/bin/python3", str(program), str(tmp_path / "db")), text=True,
                           env={**ENVIRONMENT, "PYTHONPATH": str(BUILD / "python")},
                           capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("refused") == 3 and ended.stdout.count("[]") == 3


def test_python_programs_store_together(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import sys, numpy as np, tessera as ts
db = ts.connect(sys.argv[1])
x = np.arange(120.0).reshape(12, 10)
db.store("X", ts.relation(x, (5, 4)))
a = db.plan("X")
db.store("S", a.join(a, [0, 1], [0, 1], "add"))
print("right" if np.array_equal(db.read("S").numpy(), 2 * x) else "wrong", flush=True)
try:
    db.store("S", a)
except ts.TypeError as error:
    print("refused" if "already" in str(error) else error, flush=True)
""")
    ended = subprocess.run(command(3, "/usr/bin/python3", str(program), str(tmp_path / "db")), text=True,
                           env={**ENVIRONMENT, "PYTHONPATH": str(BUILD / "python")},
                           capture_output=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("right") == 3 and ended.stdout.count("refused") == 3
