"""Running plans from Python: threads, sites, progress, and how a run is ended."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import tessera as ts

X = np.random.default_rng(1).random((120, 120))


def product(x, tile):
    r = ts.relation(x, (tile, tile)).plan("X")
    return r.join(r, [1], [0], "matmul").aggregate([0, 2], "add")


def total(plan):
    return plan.transform("sum(axes=[0, 1])").aggregate([], "add")


@pytest.mark.parametrize("sites", [1, 3])
@pytest.mark.parametrize("threads", [0, 1, 4])
def test_sites_and_threads_do_not_change_the_result(sites, threads):
    result = product(X, 20).run(sites=sites, threads=threads)
    assert np.allclose(result.numpy(), X @ X)
    assert np.allclose(product(X, 20).interpret().numpy(), X @ X)


def test_progress_is_told_in_the_callers_thread_and_ends_at_all_tasks():
    told, threads = [], set()

    def tell(progress):
        told.append(progress)
        threads.add(threading.get_ident())

    product(X, 2).run(progress=tell)
    assert threads == {threading.get_ident()}
    assert told[-1].tasks_done == told[-1].tasks == 60**3
    assert told[-1].flops_done == told[-1].flops == 2 * 120**3
    assert [p.tasks_done for p in told] == sorted(p.tasks_done for p in told)


def test_what_progress_raises_ends_the_run():
    def fail(progress):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        product(X, 2).run(progress=fail)


def test_what_is_raised_while_news_come_ends_the_run():
    # Tiles so large that a task is told of after the function has raised.
    plan = total(product(np.random.default_rng(2).random((3000, 3000)), 1000))

    def slow(progress):
        time.sleep(0.3)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        plan.run(threads=2, progress=slow)


def test_ctrl_c_ends_a_run_soon():
    plan = total(product(np.random.default_rng(2).random((6000, 6000)), 200))  # seconds, if let run
    begun = threading.Event()

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    begin = time.monotonic()
    last = []
    with pytest.raises(KeyboardInterrupt):
        plan.run(progress=lambda p: (last.append(p), begun.set()))
    other.join()
    assert last[-1].tasks_done < last[-1].tasks, time.monotonic() - begin
    assert product(X, 20).run().frontier == (6, 6)


def test_other_python_threads_go_on_while_a_plan_runs():
    counted = 0

    def count():
        nonlocal counted
        while not done:
            counted += 1
            time.sleep(0.001)

    done = False
    other = threading.Thread(target=count)
    other.start()
    while counted == 0:
        time.sleep(0.001)
    before = counted
    product(np.ones((1500, 1500)), 250).run()
    done = True
    other.join()
    assert counted > before


def test_options_that_make_no_sense():
    with pytest.raises(ts.PlanError, match="threads must be at least 0, not -1"):
        product(X, 20).run(threads=-1)
    with pytest.raises(ts.PlanError, match="invalid number of sites 0"):
        product(X, 20).run(sites=0)
