"""Programs under mpirun: the same results, and one clear end when something fails."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
import tessera

BUILD = pathlib.Path(tessera.__file__).resolve().parent.parent.parent
PROGRAM = BUILD / "tests" / "cluster_program"
pytestmark = pytest.mark.skipif(not shutil.which("mpirun") or not PROGRAM.exists(),
                                reason="MPI is not installed")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_base_warn_component_unused": "0",
               "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def command(ranks, program, *arguments):
    return ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", str(program), *arguments]


def run(ranks, program, *arguments, timeout=120, **environment):
    return subprocess.run(command(ranks, program, *arguments), env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("mode", ["tasks", "tiles"])
def test_results_are_those_of_one_process(ranks, mode):
    ended = run(ranks, PROGRAM, mode)
    assert ended.returncode == 0, ended.stderr
    assert "done" in ended.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_the_examples_of_the_papers(ranks):
    # Each process makes the logical plans, which takes seven as many times as long on few cores; a loop
    # of hundreds of statements waits for the disk and for the others at each.
    left_out = ["ImperativeLoop.*"] * (ranks > 2) + ["RecursiveSql.*"] * (ranks > 4)
    which = [f"--gtest_filter=-{':'.join(left_out)}"] if left_out else []
    ended = run(ranks, BUILD / "tests" / "papers_tests", *which, timeout=600)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr
    assert ended.stdout.count("[  PASSED  ]") == ranks


def test_statements_of_sql():
    files = sorted((pathlib.Path(__file__).parent.parent / "sql").glob("*.test"))
    files = [file for file in files if not file.name.endswith("explain.test")]  # which show plans of one site
    ended = run(3, BUILD / "tests" / "sql_tests", *files)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr
    assert " 0 failed" in ended.stdout


def test_large_messages_go_in_chunks():
    ended = run(3, PROGRAM, "large", "8", TESSERA_MPI_CHUNK="100000")
    assert ended.returncode == 0, ended.stderr


def test_a_failing_kernel_ends_the_job_with_its_message():
    start = time.monotonic()
    ended = run(4, PROGRAM, "failing_kernel")
    assert ended.returncode != 0
    assert ended.stderr.count("brittle: five is right out (at key <5> of Transform with brittle)") == 1
    assert time.monotonic() - start < 20


def test_a_process_that_leaves_early_is_missed():
    ended = run(4, PROGRAM, "early_exit")
    assert ended.returncode != 0
    assert "rank 1 has had enough" in ended.stderr


def test_nothing_is_sent_after_the_good_bye():
    ended = run(2, BUILD / "tests" / "wire_program", timeout=60)
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr


@pytest.mark.parametrize("mode", ["failing_source", "many_columns"])
def test_all_goes_well_in_the_end(mode):
    ended = run(3, PROGRAM, mode)
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr


def test_python_programs_run_on_a_cluster(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np, tessera as ts
x = np.random.default_rng(1).random((12, 10))
a = ts.relation(x, (5, 4)).plan("A")
b = ts.relation(x.T.copy(), (4, 5)).plan("B")
product = a.join(b, [1], [0], "matmul").aggregate([0, 2], "add").run().numpy()
print("right" if np.allclose(product, x @ x.T) else "wrong", flush=True)
""")
    ended = subprocess.run(command(3, "/usr/bin/python3", str(program)), capture_output=True,
                           env={**ENVIRONMENT, "PYTHONPATH": str(BUILD / "python")}, text=True,
                           timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("right") == 3  # lines of several may come as one


@pytest.mark.parametrize("mode", ["disagreement", "other_kernel"])
def test_processes_that_disagree_are_told(mode):
    ended = run(3, PROGRAM, mode)
    assert ended.returncode != 0
    assert "do not run the same plan" in ended.stderr


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_the_first_process_decides_how_a_plan_runs(ranks):
    ended = run(ranks, PROGRAM, "decided_by_one")
    assert ended.returncode == 0, ended.stderr
    plans = re.findall(r"ran (.*)", ended.stdout)
    assert len(plans) == ranks and len(set(plans)) == 1
    assert "SHUF" in plans[0] or "BCAST" in plans[0]


@pytest.mark.parametrize("ranks, culprit", [(2, 1), (3, 0), (4, 2)])
def test_a_process_with_other_values_for_an_input_is_named_by_all(ranks, culprit):
    ended = run(ranks, PROGRAM, "other_values", str(culprit))
    assert ended.returncode != 0
    others = [rank for rank in range(ranks) if rank != culprit]
    named = min(culprit, others[0]) if ranks == 2 else culprit
    assert f"rank {named} gives other values for the input \"A\" than rank" in ended.stderr
    assert ended.stderr.count("other values for the input \"A\"") >= 1


def test_a_source_with_other_tiles_is_found_by_a_sample():
    ended = run(4, PROGRAM, "other_source")
    assert ended.returncode != 0
    assert "rank 2 gives other values for the input \"S\" than ranks 0, 1 and 3" in ended.stderr


def test_sources_that_know_only_their_part_are_not_compared():
    ended = run(3, PROGRAM, "own_parts")
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr


def started(ranks, *arguments, **environment):
    """A job, and the process of each rank once all have begun."""
    job = subprocess.Popen(command(ranks, PROGRAM, *arguments), env={**ENVIRONMENT, **environment},
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pids = {}
    while len(pids) < ranks:
        match = re.search(r"pid (\d+) rank (\d+)", job.stdout.readline())
        assert match, "the job ended before it began"
        pids[int(match[2])] = int(match[1])
    time.sleep(0.5)
    return job, pids


def test_a_stopped_process_is_named_after_the_time_out():
    job, pids = started(4, "long_run", TESSERA_CLUSTER_TIMEOUT="4")
    try:
        os.kill(pids[2], signal.SIGSTOP)
        start = time.monotonic()
        _, errors = job.communicate(timeout=60)
        assert 3 < time.monotonic() - start < 30
        assert job.returncode != 0
        assert f"rank 2 (process {pids[2]} on host {os.uname().nodename}) has not responded" in errors
    finally:
        with contextlib.suppress(ProcessLookupError):  # mpirun may have ended it
            os.kill(pids[2], signal.SIGKILL)
        job.kill()


def test_a_process_that_was_stopped_for_a_moment_goes_on():
    job, pids = started(3, "long_run", "6", TESSERA_CLUSTER_TIMEOUT="20")
    try:
        os.kill(pids[1], signal.SIGSTOP)
        time.sleep(7)  # longer than it takes to find out that one was not attentive oneself
        os.kill(pids[1], signal.SIGCONT)
        output, errors = job.communicate(timeout=60)
        assert job.returncode == 0 and "done" in output, errors
    finally:
        job.kill()


def test_a_kernel_may_take_longer_than_the_time_out():
    ended = run(3, PROGRAM, "long_kernel", "6", TESSERA_CLUSTER_TIMEOUT="2")
    assert ended.returncode == 0 and "done" in ended.stdout, ended.stderr


def test_a_process_that_ends_before_its_first_plan_is_named():
    start = time.monotonic()
    ended = run(3, PROGRAM, "never_joins", timeout=60, TESSERA_CLUSTER_TIMEOUT="3")
    assert ended.returncode != 0
    # Whoever sees it first: we, or the launcher, if others have joined by then.
    assert (f"rank 1 (on host {os.uname().nodename}) did not start within 3 s" in ended.stderr
            or "process rank 1" in ended.stderr), ended.stderr
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("kilobytes", [20_000, 60_000, 150_000, 300_000, 450_000])
def test_a_process_without_memory_to_start_ends_the_job(kilobytes):
    limited = f'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then ulimit -v {kilobytes}; fi; exec "$0" "$@"'
    ended = subprocess.run(command(3, "/bin/sh", "-c", limited, str(PROGRAM), "tasks"), text=True,
                           env={**ENVIRONMENT, "TESSERA_CLUSTER_TIMEOUT": "5"}, capture_output=True,
                           timeout=90)
    if kilobytes < 300_000:
        assert ended.returncode != 0
    if ended.returncode != 0:
        assert "rank 1" in ended.stderr or "exited on signal" in ended.stderr or \
            "non-zero" in ended.stderr, ended.stderr


def test_a_time_out_that_is_none_is_refused():
    ended = run(2, PROGRAM, "tasks", TESSERA_CLUSTER_TIMEOUT="soon")
    assert ended.returncode != 0
    assert "TESSERA_CLUSTER_TIMEOUT must be a number of seconds, not 'soon'" in ended.stderr


def test_a_killed_process_ends_the_job():
    job, pids = started(4, "long_run")
    try:
        os.kill(pids[2], signal.SIGKILL)
        start = time.monotonic()
        _, errors = job.communicate(timeout=30)
        assert time.monotonic() - start < 10
        assert job.returncode != 0
        assert "killed" in errors.lower() or "signal 9" in errors
    finally:
        job.kill()


def test_one_process_needs_no_plug_in(tmp_path):
    """Without the marks that mpirun leaves, nothing is loaded."""
    for library in BUILD.glob("libtessera.so*"):
        shutil.copy(library, tmp_path)  # beside which there is no plug-in
    alone = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    ended = subprocess.run([PROGRAM, "tasks"], capture_output=True, text=True, timeout=60, env=alone)
    assert ended.returncode == 0, ended.stderr
    launched = subprocess.run([PROGRAM, "tasks"], capture_output=True, text=True, timeout=60,
                              env={**alone, "PMI_SIZE": "2"})
    assert launched.returncode == 1
    assert "libtessera_mpi.so was not found" in launched.stderr
