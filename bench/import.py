#!/usr/bin/python3
"""Imports a large .npy file and compares that with `cp` of the same file on the same disk.

Ours is durable when it returns, so that the copy is synchronised too; the time of a copy that is not is
printed beside it. Each import is a process of its own, whose largest resident size is looked at.
Prints a line of JSON a figure, as the other benchmarks do.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MEGABYTE = 1 << 20


def import_once(folder, file):
    """The child's work: seconds of the import, and the largest resident size of the process."""
    import tessera as ts

    begin = time.perf_counter()
    ts.connect(folder).import_file("X", file)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds,
                      "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def imported(folder, file):
    run = subprocess.run([sys.executable, __file__, "--child", str(folder), str(file)], check=True,
                         text=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def copied(file, to):
    """Seconds of cp, and of cp and the synchronisation of what it wrote."""
    begin = time.perf_counter()
    subprocess.run(["cp", str(file), str(to)], check=True)
    plain = time.perf_counter() - begin
    subprocess.run(["sync", str(to)], check=True)
    return plain, time.perf_counter() - begin


def make_array(file, bytes_wanted):
    import numpy as np

    rows, columns = bytes_wanted // 8 // 16000, 16000
    array = np.lib.format.open_memmap(file, "w+", "f8", (rows, columns))
    random = np.random.default_rng(1)
    for row in range(0, rows, 500):
        array[row:row + 500] = random.random((min(500, rows - row), columns))
    array.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", help="on the disk to measure; the temporary folder if not given")
    options = parser.parse_args()
    if options.child:
        return import_once(*options.child)
    if options.make:
        return make_array(options.make, options.megabytes * 10**6)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-import-", dir=options.folder))
    try:
        file = folder / "x.npy"
        # By a process of its own: a child's largest size is never less than its parent's was.
        subprocess.run([sys.executable, __file__, "--make", str(file), "--megabytes",
                        str(options.megabytes)], check=True)
        os.sync()
        ours, plain, durable, largest = [], [], [], 0
        for repetition in range(options.repetitions + 1):
            begun = [lambda: imported(folder / "db", file), lambda: copied(file, folder / "copy")]
            order = (0, 1) if repetition % 2 == 0 else (1, 0)
            results = [None, None]
            for which in order:
                results[which] = begun[which]()
                shutil.rmtree(folder / "db", ignore_errors=True)
                (folder / "copy").unlink(missing_ok=True)
                os.sync()  # nobody writes out what the other has left
            largest = max(largest, results[0]["bytes"])
            if repetition > 0:  # the first is for warming up
                ours.append(results[0]["seconds"])
                plain.append(results[1][0])
                durable.append(results[1][1])
    finally:
        shutil.rmtree(folder)
    mine, theirs, unsynced = (statistics.median(times) for times in (ours, durable, plain))
    name = f"import of {options.megabytes} MB .npy"
    for peer, seconds, bar in (("cp and sync", theirs, ">= 0.5"), ("cp, not durable", unsynced, "")):
        print(json.dumps({"name": f"{name}, speed", "peer": peer, "ours_ms": mine * 1e3,
                          "peer_ms": seconds * 1e3, "ratio": seconds / mine, "bar": bar}))
    print(json.dumps({"name": f"{name}, resident MB / 256", "peer": "the bound", "ours_ms": 0,
                      "peer_ms": 0, "ratio": largest / MEGABYTE / 256, "bar": "<= 1.0"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
