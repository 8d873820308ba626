"""Statements that run in frames under mpirun: whoever is killed, and however many go on afterwards, the result
is the same, and at most the frame under way is computed again."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import tessera as ts

from test_cluster import ENVIRONMENT, command, pytestmark  # noqa: F401: skips where there is no MPI
from test_frames import ASKED, frames_run, prepared, run, sums_in  # noqa: F401: a fixture
from test_shell_statements import PROGRAM


def start(ranks, database, frame_size):
    chosen = ["-c", f"SET frame_size = {frame_size}"] if frame_size else []
    return subprocess.Popen(
        command(ranks, PROGRAM, str(database), "--format", "csv", *chosen, "-c", ASKED), env=ENVIRONMENT,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def processes_of(job):
    """The processes that mpirun has started, the first rank first."""
    children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children")
    try:
        return sorted(int(pid) for pid in children.read_text().split())
    except FileNotFoundError:
        return []


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def finished(ranks, database, frame_size=12):
    job = start(ranks, database, frame_size)
    try:
        out, error = job.communicate(timeout=120)
    finally:
        kill([*processes_of(job), job.pid])
    assert job.returncode == 0, error
    return sums_in(out)


def killed(ranks, database, frames, victims, frame_size=12, at_most_later=0.2):
    """Whether a job was killed before it had ended, soon after so many frames more were finished: the victims
    among its ranks, or all of them with mpirun."""
    db = ts.connect(database)
    wanted = len(db.history()) + frames
    job = start(ranks, database, frame_size)
    pids = []
    try:
        limit = time.monotonic() + 120
        while job.poll() is None and (len(processes_of(job)) < ranks or len(db.history()) < wanted):
            assert time.monotonic() < limit
            time.sleep(0.002)
        time.sleep(chance.uniform(0, at_most_later))
        pids = processes_of(job)
        if victims is None:
            kill([job.pid, *pids])
        else:
            kill(pids[victim] for victim in victims if victim < len(pids))
        before = time.monotonic()
        job.communicate(timeout=60)
        assert time.monotonic() - before < 30, "the others have to end soon"
        return job.returncode != 0
    finally:
        kill([job.pid, *pids])


@pytest.fixture(scope="module")
def frames(prepared, tmp_path_factory):  # noqa: F811
    """How many there are."""
    database = tmp_path_factory.mktemp("undisturbed") / "lab.tsdb"
    shutil.copytree(prepared[0], database)
    before = frames_run(database)
    assert np.allclose(finished(3, database), prepared[1], rtol=1e-9)
    count = frames_run(database) - before
    assert count > 20
    return count


def expect_to_go_on(prepared, frames, database, choose, trials):  # noqa: F811
    """Kills jobs in the middle, and lets others go on: `choose` says how many processes, and who dies."""
    folder, expected = prepared
    kills = attempts = 0
    while kills < trials:  # a job may have ended before the kill came
        attempts += 1
        assert attempts <= 4 * trials
        shutil.copytree(folder, database)
        before = frames_run(database)
        for _ in range(3):
            ranks, victims = choose()
            if not killed(ranks, database, chance.randrange(frames // 3), victims):
                break
            kills += 1
        ranks, _ = choose()
        assert np.allclose(finished(ranks, database), expected, rtol=1e-9)
        # No frame that was finished is computed again, unless the kill came when all was done.
        assert (frames_run(database) - before) % frames == 0
        db = ts.connect(database)
        assert db.list() == ["M"] and db.check() == []
        shutil.rmtree(database)


chance = random.Random(21)


def test_all_processes_are_killed(prepared, frames, tmp_path):  # noqa: F811
    expect_to_go_on(prepared, frames, tmp_path / "lab.tsdb", lambda: (3, None), trials=3)


def test_one_process_is_killed(prepared, frames, tmp_path):  # noqa: F811
    expect_to_go_on(prepared, frames, tmp_path / "lab.tsdb",
                    lambda: (3, [chance.randrange(3)]), trials=3)


def test_others_in_another_number_go_on(prepared, frames, tmp_path):  # noqa: F811
    expect_to_go_on(prepared, frames, tmp_path / "lab.tsdb",
                    lambda: (chance.choice([1, 2, 3, 4]), None), trials=3)


def jobs(database):
    """The statements in frames that have left something in a database."""
    return run(database, "SHOW JOBS").splitlines()[1:]


def test_one_process_that_cuts_other_frames_begins_anew(prepared, tmp_path):  # noqa: F811
    # Left to itself a cluster makes smaller frames than one process: what it has left is of no use here, but
    # waits for a cluster.
    folder, expected = prepared
    database = tmp_path / "lab.tsdb"
    left = []
    for _ in range(20):  # until a kill comes between two frames' ends, and not when all is done
        shutil.copytree(folder, database)
        killed(3, database, 1, None, frame_size=None, at_most_later=0)
        left = jobs(database)
        if left:
            break
        shutil.rmtree(database)
    assert len(left) == 1
    assert np.allclose(sums_in(run(database, ASKED)), expected, rtol=1e-9)
    assert jobs(database) == left
    assert np.allclose(finished(2, database, frame_size=None), expected, rtol=1e-9)
    db = ts.connect(database)
    assert jobs(database) == [] and db.list() == ["M"] and db.check() == []
