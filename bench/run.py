#!/usr/bin/python3
"""Runs the benchmarks and prints a table of ratios.

Each line compares ours with a peer on the same data in one run, the two measured in turns, by
medians. Times are in the table for orientation; the ratio is the result.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))

import numpy as np
import scipy.sparse as sp

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


def holds(line):
    if not line.get("bar"):
        return ""
    relation, bound = line["bar"].split()
    met = line["ratio"] <= float(bound) if relation == "<=" else line["ratio"] >= float(bound)
    return "ok" if met else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release", help="where the programs were built")
    options = parser.parse_args()
    lines = []
    for program in ("bench_kernels", "bench_sparse_products", "bench_multiply", "bench_planning",
                    "bench_frames"):
        run = subprocess.run([f"{options.build}/bench/{program}"], text=True,
                             stdout=subprocess.PIPE)
        output = run.stdout
        # A program that misses its bar says so in a line of its own, which is shown below.
        if run.returncode not in (0, 1) or (run.returncode == 1 and "{" not in output):
            raise subprocess.CalledProcessError(run.returncode, program)
        lines += [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    lines += sparse_against_scipy()
    for script, *arguments in (("import.py",), ("import_text.py",),
                               ("out_of_core.py", "--build", options.build),
                               ("framed.py", "--build", options.build)):
        run = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), script),
                              *arguments], text=True, stdout=subprocess.PIPE, check=True)
        lines += [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    print(f"{'case':44} {'peer':24} {'ours ms':>10} {'peer ms':>10} {'ratio':>7}  bar")
    for line in lines:
        print(f"{line['name']:44} {line['peer']:24} {line['ours_ms']:10.3f} {line['peer_ms']:10.3f} "
              f"{line['ratio']:7.3f}  {line.get('bar', '')} {holds(line)}")
    return 1 if any(holds(line) == "MISSED" for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
