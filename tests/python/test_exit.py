"""How a program ends while threads of it are inside of statements: quietly, whatever they do."""
import os
import signal
import subprocess
import sys
import time

import pytest

PREPARE = """
import threading, time, sys
import numpy as np, tessera as ts

def in_thread(work):
    started = threading.Event()
    def run():
        started.set()
        work()
    threading.Thread(target=run, daemon=True).start()
    started.wait()
"""

WORK = {
    "a statement": """
db = ts.connect()
db.sql("CREATE TABLE t (x INT)")
db.session().insert("t", [(i,) for i in range(3000)])
in_thread(lambda: db.sql("SELECT a.x FROM t AS a, t AS b WHERE a.x < b.x ORDER BY b.x"))
""",
    "statements without an end": """
db = ts.connect()
def forever():
    while True:
        db.sql("SELECT 1 + 1 AS two")
in_thread(forever)
""",
    "a statement that tells how far it is": """
a = ts.relation(np.random.default_rng(1).normal(size=(1500, 1500)), tile=(50, 50)).plan("A")
product = a.join(a, [1], [0], "matmul").aggregate([0, 2], "add")
in_thread(lambda: product.run(progress=lambda progress: None))
""",
    "a plan that asks Python": """
keys = ts.relation(np.zeros((600, 600)), tile=(1, 1)).plan("A")
in_thread(lambda: keys.filter(lambda i, j: i <= j).run(allow_holes=True))
""",
    "a kernel": """
a = np.random.default_rng(1).integers(0, 9, size=(3000, 3000))
in_thread(lambda: ts.kernels.matmul(a, a))
""",
    "tiles of arrays": """
def forever():
    while True:
        ts.relation(np.ones((100, 100)), tile=(10, 10)).plan("A").run()
for _ in range(3):
    in_thread(forever)
""",
}


def ends(program, tries):
    for attempt in range(tries):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, AFTER=str(0.03 * attempt)))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), f"attempt {attempt}"


@pytest.mark.parametrize("work", WORK)
def test_daemon_threads(work):
    ends(PREPARE + WORK[work] + "\nimport os\ntime.sleep(float(os.environ['AFTER']))\n", 10)


def test_what_is_done_at_exit_still_works():
    program = PREPARE + WORK["statements without an end"] + """
import atexit
atexit.register(lambda: db.sql("CREATE TABLE last AS SELECT 1 AS x"))
"""
    ends(program, 3)
    early = "import atexit\natexit.register(lambda: print(db.sql('SELECT 2 AS x').fetchall()))\n"
    done = subprocess.run([sys.executable, "-c", early + program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[(2,)]\n", "")


def test_children_do_not_wait_for_threads_of_their_parent():
    program = PREPARE + WORK["statements without an end"] + """
import os
child = os.fork()
if child == 0:
    sys.exit(7)
begin = time.monotonic()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert time.monotonic() - begin < 10
"""
    ends(program, 3)


@pytest.mark.parametrize("call", [
    "ts.kernels.matmul(a, a)", "ts.kernels.svd(a.astype(float))", "plan.interpret()", "plan.run()",
])
def test_ctrl_c_stops_calls(call):
    program = PREPARE + """
a = np.random.default_rng(1).integers(0, 9, size=(4000, 4000))
small = ts.relation(np.ones((600, 600)), tile=(2, 2)).plan("A")
plan = small.join(small, [1], [0], "matmul").aggregate([0, 2], "add")
print("ready", flush=True)
try:
    """ + call + """
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    program = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    time.sleep(0.7)
    begin = time.monotonic()
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline() == "stopped\n"
    assert time.monotonic() - begin < 10
    assert program.wait(60) == 0
