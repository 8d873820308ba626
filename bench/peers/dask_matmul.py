#!/usr/bin/python3
"""C = A B with Dask's distributed arrays: worker processes of one thread each, on the loopback.

Prints the seconds of each repetition as a line of JSON. The operands lie in the workers' memory
before the clock starts, and the product stays there.
"""
import argparse
import json
import os
import signal
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, wait


def seconds_of(a, b):
    """The product, and the seconds it took."""
    begin = time.perf_counter()
    c = (a @ b).persist()
    wait(c)
    return c, time.perf_counter() - begin


def check(a, b, c):
    """C x against A (B x), as in the other programs."""
    x = np.random.default_rng(3).uniform(-1, 1, c.shape[1])
    expected, found = da.compute(a @ (b @ x), c @ x)
    if not np.allclose(found, expected, rtol=0, atol=1e-14 * a.shape[1] * b.shape[1]):
        sys.exit("dask: C x is not A (B x)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="4000x4000x4000", help="MxKxN")
    parser.add_argument("--chunk", type=int, default=1000, help="rows and columns of a chunk")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="fail if the product is wrong")
    options = parser.parse_args()
    m, k, n = (int(extent) for extent in options.shape.split("x"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the workers are ended too

    with LocalCluster(n_workers=options.workers, threads_per_worker=1, processes=True,
                      host="127.0.0.1", dashboard_address=None, memory_limit=0) as cluster, \
            Client(cluster):
        random = da.random.default_rng(1)

        def uniform(rows, columns):
            return random.uniform(-1, 1, (rows, columns), chunks=options.chunk).persist()

        chunks = options.workers * 8  # enough of them that every worker has imported what it needs
        seconds_of(*(random.uniform(-1, 1, (chunks, chunks), chunks=8).persist() for _ in "ab"))
        for _ in range(options.repeat):
            # New operands each time: Dask remembers a product of the same ones.
            a = b = c = None
            a, b = uniform(m, k), uniform(k, n)
            wait([a, b])
            c, seconds = seconds_of(a, b)
            print(json.dumps({"tool": "dask", "form": "nn", "shape": options.shape,
                              "ranks": options.workers, "chunk": options.chunk,
                              "seconds": round(seconds, 6)}), flush=True)
        if options.check:
            check(a, b, c)


if __name__ == "__main__":
    main()
