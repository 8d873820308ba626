"""Programs under mpirun: the same results, and one clear end when something fails."""
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
    # Each process plans, which takes seven as many times as long on few cores; a loop of hundreds of
    # statements waits for the disk and for the others at each.
    left_out = ["ImperativeLoop.*"] * (ranks > 2) + ["RecursiveSql.*"] * (ranks > 4)
    which = [f"--gtest_filter=-{':'.join(left_out)}"] if left_out else []
    ended = run(ranks, BUILD / "tests" / "papers_tests", *which, timeout=600)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr
    assert ended.stdout.count("[  PASSED  ]") == ranks


def test_statements_of_sql():
    files = sorted((pathlib.Path(__file__).parent.parent / "sql").glob("*.test"))
    files = [file for file in files if file.name != "explain.test"]  # which shows plans of one site
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


def test_a_killed_process_ends_the_job():
    job = subprocess.Popen(command(4, PROGRAM, "long_run"), env=ENVIRONMENT, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        pids = {}
        while len(pids) < 4:
            match = re.search(r"pid (\d+) rank (\d+)", job.stdout.readline())
            assert match, "the job ended before it began"
            pids[int(match[2])] = int(match[1])
        time.sleep(0.5)
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
    program = shutil.copy(PROGRAM, tmp_path)
    ended = subprocess.run([program, "tasks"], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "LD_LIBRARY_PATH": ""})
    assert ended.returncode == 0, ended.stderr
    launched = subprocess.run([program, "tasks"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PMI_SIZE": "2"})
    assert launched.returncode == 1
    assert "libtessera_mpi.so was not found" in launched.stderr
