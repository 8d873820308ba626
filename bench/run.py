#!/usr/bin/python3
"""Runs families of benchmarks and prints a line of ratios as soon as it is measured.

Each line compares ours with a peer on the same data in one run, the two measured in turns, by
medians. Times are there for orientation; the ratio is the result. Without a family all that are
short are run.
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import tessera as ts


def compare(ours, peer, repetitions=15):
    """Median seconds of both, in turns."""
    times = [[], []]
    ours(), peer()
    for i in range(repetitions):
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            begin = time.perf_counter()
            (ours, peer)[which]()
            times[which].append(time.perf_counter() - begin)
    return [statistics.median(t) for t in times]


def sparse_against_scipy():
    """Both single-threaded; SciPy leaves the columns of its product unsorted, ours are sorted."""
    n, density = 10**4, 0.001
    a = sp.random(n, n, density, "csr", random_state=1)
    b = sp.random(n, n, density, "csr", random_state=2)
    dense = np.random.default_rng(3).random((n, 64))
    ta, tb, td = ts.Tile(a), ts.Tile(b), ts.Tile(dense)
    matmul = ts.Kernel("matmul")
    for name, ours, peer in (
            ("sparse x dense 10^4x10^4 0.1% x 64", lambda: matmul(ta, td), lambda: a @ dense),
            ("sparse x sparse 10^4x10^4 0.1%", lambda: matmul(ta, tb), lambda: a @ b)):
        mine, theirs = compare(ours, peer)
        yield {"name": name, "peer": "scipy", "ours_ms": mine * 1e3, "peer_ms": theirs * 1e3,
               "ratio": mine / theirs, "bar": "<= 1.0"}


def forms_against_numpy():
    """Ours on the threads that there are, as NumPy's own loops are on one."""
    rng = np.random.default_rng(5)
    rows, points, others = rng.random((2000, 1000)), rng.random((2000, 4)), rng.random((2000, 4))
    values, mask = rng.random(10**7), rng.random(10**7) < 0.5

    def softmax():
        powers = np.exp(rows - rows.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    for name, form, arrays, peer in (
            ("softmax of rows, 2000 x 1000",
             "[i,j] exp(#0[i,j] - max([k] #0[i,k])) / sum([k] exp(#0[i,k] - max([l] #0[i,l])))", [rows], softmax),
            ("least distances, 2000 x 2000 x 4", "[i] min([j] sum([k] square(#0[i,k] - #1[j,k])))", [points, others],
             lambda: cdist(points, others, "sqeuclidean").min(axis=1)),
            ("mean where a mask holds, 10^7", "[] sum([i] #0[i] | #1[i]) / sum([i] 1.0 | #1[i])", [values, mask],
             lambda: values[mask].mean())):
        kernel, tiles = ts.Kernel("compute", form=form), [ts.Tile(array) for array in arrays]
        assert np.allclose(kernel(*tiles).numpy(), peer())
        mine, theirs = compare(lambda: kernel(*tiles), peer, 9)
        yield {"name": name, "peer": "scipy" if peer.__code__.co_names[:1] == ("cdist",) else "numpy",
               "ours_ms": mine * 1e3, "peer_ms": theirs * 1e3, "ratio": mine / theirs, "bar": "<= 1.0"}


def expressions():
    """Statements over whole tensors, with all that a statement costs, in a database in memory."""
    rng = np.random.default_rng(7)
    x, v = rng.random(10**7), rng.random(4000)
    a, b, c = (rng.random((1200, 1200)) for _ in range(3))
    big = rng.random((4000, 4000))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        db = ts.connect(os.path.join(folder, "bench.tsdb"))
        for name, array in (("X", x), ("v", v), ("A", a), ("B", b), ("C", c), ("big", big)):
            db.store(name, ts.relation(array, array.shape if array.ndim > 1 else (10**6,)).plan(name))

        def statement(text):
            return lambda: db.sql(text)

        def line(name, peer_name, ours, peer, bar, repetitions=7):
            mine, theirs = compare(ours, peer, repetitions)
            return {"name": name, "peer": peer_name, "ours_ms": mine * 1e3, "peer_ms": theirs * 1e3,
                    "ratio": mine / theirs, "bar": bar}
        yield line("a sum of 8 operations on 10^7 numbers", "numpy",
                   statement("SELECT sum(((((X * 2 + 1) - X) * X + 0.5) * X - 2) * 3)"),
                   lambda: np.sum(((((x * 2 + 1) - x) * x + 0.5) * x - 2) * 3), "<= 1.0")
        by_hand = statement("SELECT sum(big @ (big @ v))")
        for text in ("big @ big @ v", "einsum('ij,jk,k->i', big, big, v)"):
            yield line(f"{text}, n = 4000", "big @ (big @ v)", statement(f"SELECT sum({text})"), by_hand, "<= 1.02")
        built_in = statement("CREATE OR REPLACE TENSOR R AS A @ B")
        for name, text in (
                ("einsum", "einsum('ik,kj->ij', A, B)"),
                ("comprehension", "[ ((i, j), +/p) | ((i, k), a) <- A, ((l, j), b) <- B, k == l, let p = a * b,"
                                  " group by (i, j) ]"),
                ("loops", "{ var R[1200, 1200]; for i = 0, 1199 do for j = 0, 1199 do for k = 0, 1199 do"
                          " R[i, j] += A[i, k] * B[k, j]; }")):
            yield line(f"A @ B as {name}, 1200 x 1200", "A @ B",
                       statement(f"CREATE OR REPLACE TENSOR R AS {text}"), built_in, "<= 1.02")


def program(name):
    """The lines of JSON that a program of the build prints."""
    return lambda build: printed([f"{build}/bench/{name}"])


def script(name, *options):
    """Those of a script in this folder. It runs for long, so that it says on stderr how far it is."""
    path = os.path.join(os.path.dirname(__file__), name)
    return lambda build: printed([sys.executable, path, *(o.format(build=build) for o in options)])


def printed(command):
    lines = 0
    with subprocess.Popen(["stdbuf", "-oL", *command], text=True, stdout=subprocess.PIPE) as running:
        for line in running.stdout:
            if line.startswith("{"):
                lines += 1
                yield json.loads(line)
    # A program that misses its bar ends with 1, and a line says so.
    if running.returncode not in (0, 1) or lines == 0:
        raise subprocess.CalledProcessError(running.returncode, command)


SHORT = {
    "kernels": program("bench_kernels"),
    "forms": lambda build: itertools.chain(program("bench_forms")(build), forms_against_numpy()),
    "sparse": program("bench_sparse_products"),
    "scipy": lambda build: sparse_against_scipy(),
    "expressions": lambda build: expressions(),
    "multiply": program("bench_multiply"),
    "planning": program("bench_planning"),
    "statements": program("bench_small_statements"),
    "events": program("bench_events"),
    "cuts": program("bench_frames"),
}
LONG = {
    "import": script("import.py"),
    "import-text": script("import_text.py"),
    "out-of-core": script("out_of_core.py", "--build", "{build}"),
    "frames": script("framed.py", "--build", "{build}"),
}


def holds(line):
    if not line.get("bar"):
        return ""
    relation, bound = line["bar"].split()
    met = line["ratio"] <= float(bound) if relation == "<=" else line["ratio"] >= float(bound)
    return "ok" if met else "MISSED"


MOST_MINUTES = 15  # that all short families may take together


def elapsed_text(seconds, families):
    text = f"{seconds / 60:.1f} minutes elapsed"
    if not families and seconds > MOST_MINUTES * 60:
        text += f": more than the {MOST_MINUTES} that the short families may take together"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY",
                        help=f"of {', '.join(SHORT)} (short), {', '.join(LONG)} (long)")
    parser.add_argument("--build", default="build/release", help="where the programs were built")
    options = parser.parse_args()
    unknown = set(options.families) - {*SHORT, *LONG}
    if unknown:
        parser.error(f"no family is named {', '.join(sorted(unknown))}")
    missed = False
    begin = time.monotonic()
    print(f"{'case':44} {'peer':24} {'ours ms':>10} {'peer ms':>10} {'ratio':>7}  bar", flush=True)
    for family in options.families or SHORT:
        for line in (SHORT | LONG)[family](options.build):
            print(f"{line['name']:44} {line['peer']:24} {line['ours_ms']:10.3f} "
                  f"{line['peer_ms']:10.3f} {line['ratio']:7.3f}  {line.get('bar', '')} {holds(line)}",
                  flush=True)
            missed |= holds(line) == "MISSED"
    print(elapsed_text(time.monotonic() - begin, options.families))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
