"""Statements that run in frames: the same results, and a kill costs at most the frame under way."""
import math
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import tessera as ts

from test_shell_statements import PROGRAM

STEPS = 120
ASKED = f"SELECT r, c, sum_elements(m) FROM X[{STEPS}] ORDER BY r, c"


def run(database, *statements, kill_after=None):
    commands = [part for statement in statements for part in ("-c", statement)]
    process = subprocess.Popen([PROGRAM, database, "--format", "csv", *commands], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, error = process.communicate(timeout=kill_after if kill_after is not None else 300)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return None
    assert process.returncode == 0, error
    return out


def literal(matrix):
    return "[" + ", ".join("[" + ", ".join(f"{x:.17g}" for x in row) + "]" for row in matrix) + "]"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A database with a recursion over a matrix of four tiles, and what NumPy makes of it."""
    folder = tmp_path_factory.mktemp("frames") / "lab.tsdb"
    whole = np.random.default_rng(7).uniform(-1, 1, (12, 12)) / 3
    tiles = ", ".join(f"({r}, {c}, {literal(whole[6 * r:6 * r + 6, 6 * c:6 * c + 6])})"
                      for r in range(2) for c in range(2))
    run(folder, "CREATE TABLE M (r INT, c INT, m MATRIX[6][6])", f"INSERT INTO M VALUES {tiles}",
        "CREATE TABLE X[0] (r, c, m) AS SELECT * FROM M",
        "CREATE TABLE X[i:1...] (r, c, m) AS SELECT a.r, b.c, SUM(matmul(a.m, b.m)) + 0.5 "
        "FROM X[i-1] AS a, M AS b WHERE a.c = b.r GROUP BY a.r, b.c")
    x = whole
    for _ in range(STEPS):
        x = sum((x[:, 6 * k:6 * k + 6] @ whole[6 * k:6 * k + 6]) for k in range(2)) + 0.5
    return folder, [x[6 * r:6 * r + 6, 6 * c:6 * c + 6].sum() for r in range(2) for c in range(2)]


def sums_in(csv):
    return [float(line.split(",")[2]) for line in csv.splitlines()[-4:]]


def frames_run(database):
    """How many frames were finished in this database, ever: each is a change of its own."""
    history = run(database, "SHOW HISTORY")
    return sum("job " in line for line in history.splitlines())


def test_frames_give_what_one_plan_gives(prepared):
    folder, expected = prepared
    for size in (1, 7, 40, 100000):
        assert np.allclose(sums_in(run(folder, f"SET frame_size = {size}", ASKED)), expected, rtol=1e-9)
    # Nothing of it stays behind.
    assert ts.connect(folder).list() == ["M"]


def test_what_is_killed_goes_on_after_its_last_frame(prepared, tmp_path):
    folder, expected = prepared
    database = tmp_path / "whole.tsdb"
    shutil.copytree(folder, database)
    start = time.monotonic()
    before = frames_run(database)
    assert np.allclose(sums_in(run(database, "SET frame_size = 12", ASKED)), expected, rtol=1e-9)
    frames, seconds = frames_run(database) - before, time.monotonic() - start
    assert frames > 20
    chance = random.Random(20)
    killed = 0
    for trial in range(25):
        database = tmp_path / f"killed_{trial}.tsdb"
        shutil.copytree(folder, database)
        before = frames_run(database)
        while run(database, "SET frame_size = 12", ASKED,
                  kill_after=chance.uniform(0, seconds)) is None:
            killed += 1
        # No frame that was finished is computed again, unless the kill came when all was done.
        assert (frames_run(database) - before) % frames == 0
        result = run(database, "SET frame_size = 12", ASKED)
        assert np.allclose(sums_in(result), expected, rtol=1e-9)
        assert ts.connect(database).list() == ["M"]
        shutil.rmtree(database)
    assert killed >= 10


def test_a_killed_job_keeps_its_cut_whatever_is_learned_meanwhile(prepared, tmp_path):
    database = tmp_path / "meanwhile.tsdb"
    shutil.copytree(prepared[0], database)
    run(database, "CREATE TABLE pascal[i:0...][0] (val) AS SELECT 1", "CREATE TABLE pascal[i:1...][i] (val) AS SELECT 1",
        "CREATE TABLE pascal[i:2...][j:1...i-1] (val) AS SELECT a.val + b.val FROM pascal[i-1][j-1] AS a, "
        "pascal[i-1][j] AS b")
    small, asked = "SET frame_size = 4", "SELECT val FROM pascal[40][20]"
    first = subprocess.Popen([PROGRAM, database, "-c", small, "-c", asked], stdout=subprocess.DEVNULL)
    try:
        while len(jobs := run(database, "SHOW JOBS").splitlines()) == 1:  # until a frame was finished
            assert first.poll() is None, "it was over before anybody looked"
    finally:
        first.kill()
        first.wait()
    name, _, done_of_all = jobs[1].split(",")[:3]
    done, frames = map(int, done_of_all.split(" of "))
    # Another statement in frames learns what is pipelined: by that the plan would be cut otherwise.
    # EXPLAIN shows the cut that will run: of the killed statement, the one it began with.
    new = "SELECT val + 0 AS val FROM pascal[40][20]"
    before, before_new = (run(database, small, "EXPLAIN " + query) for query in (asked, new))
    run(database, "SET frame_size = 12", ASKED)
    assert run(database, small, "EXPLAIN " + asked) == before
    assert run(database, small, "EXPLAIN " + new) != before_new
    assert run(database, small, asked).splitlines()[-1] == str(math.comb(40, 20))
    finished = [line for line in run(database, "SHOW HISTORY").splitlines() if f"job {name} " in line]
    assert len(finished) == frames and done < frames
    assert ts.connect(database).list() == ["M"]


def test_a_job_belongs_to_one_process_and_is_taken_over_when_that_is_gone(prepared, tmp_path):
    folder, expected = prepared
    database = tmp_path / "shared.tsdb"
    shutil.copytree(folder, database)
    first = subprocess.Popen([PROGRAM, database, "-c", "SET frame_size = 1", "-c", ASKED],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while f"running in process {first.pid}," not in (listed := run(database, "SHOW JOBS")):
            assert first.poll() is None, "it was over before anybody looked"
        first.send_signal(signal.SIGSTOP)
        second = subprocess.run([PROGRAM, database, "-c", "SET frame_size = 1", "-c", ASKED], text=True,
                                stderr=subprocess.PIPE)
        assert second.returncode == 1 and f"is running in process {first.pid};" in second.stderr
        name = listed.splitlines()[1].split(",")[0]
        refused = subprocess.run([PROGRAM, database, "-c", f"DROP JOB {name}"], text=True, stderr=subprocess.PIPE)
        assert refused.returncode == 1 and f"is running in process {first.pid};" in refused.stderr
    finally:
        first.kill()
        first.communicate()
    assert f"{name},stopped," in run(database, "SHOW JOBS")
    assert np.allclose(sums_in(run(database, "SET frame_size = 1", ASKED)), expected, rtol=1e-9)
    assert len(run(database, "SHOW JOBS").splitlines()) == 1
    assert [path.name for path in database.iterdir() if path.name.startswith("job-")] == []


def test_a_stopped_job_whose_data_changed_is_told_apart(prepared, tmp_path):
    database = tmp_path / "outdated.tsdb"
    shutil.copytree(prepared[0], database)
    first = subprocess.Popen([PROGRAM, database, "-c", "SET frame_size = 1", "-c", ASKED], stdout=subprocess.DEVNULL)
    try:
        while len(run(database, "SHOW JOBS").splitlines()) == 1:
            assert first.poll() is None, "it was over before anybody looked"
    finally:
        first.kill()
        first.wait()

    def state():
        return run(database, "SHOW JOBS").splitlines()[1].split(",")[1]

    assert state() == "stopped"
    # What it does not read changes nothing; what it reads does.
    run(database, "CREATE TABLE other (n INT)", "CREATE TABLE Z[0] (n) AS SELECT 1", "VACUUM")
    assert state() == "stopped"
    name = run(database, "SHOW JOBS").splitlines()[1].split(",")[0]
    run(database, f"INSERT INTO M VALUES (2, 2, {literal(np.eye(6))})")
    assert state() == "outdated: M has changed"
    run(database, "ALTER TABLE M RENAME TO N")
    assert state() == "outdated: M was dropped"
    run(database, "ALTER TABLE N RENAME TO M", "DROP TABLE X", "CREATE TABLE X[0] (r, c, m) AS SELECT * FROM M")
    assert state().startswith("outdated: ")
    run(database, f"DROP JOB {name}")
    assert len(run(database, "SHOW JOBS").splitlines()) == 1
