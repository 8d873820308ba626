#!/usr/bin/python3
"""Times the import of text files into a database, until it is durable, against NumPy and SciPy.

    bench/import_text.py [--megabytes 500] [--repetitions 5] [--folder FOLDER]

Each line, for bench/run.py, compares ours with a peer that reads the same file into memory, the two
measured in turns, by medians; the ratio is how many times as fast ours is. The first time of both is not
counted.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import tempfile
import time

import numpy as np
import scipy.io

import tessera as ts


def write_csv(path, megabytes):
    """As NumPy's savetxt writes it, but the same thousand rows again and again."""
    rows = np.random.default_rng(1).normal(size=(1000, 1000))
    part = path.with_suffix(".part")
    np.savetxt(part, rows, delimiter=",")
    text = part.read_bytes()
    part.unlink()
    with open(path, "wb") as out:
        for _ in range(max(1, round(megabytes * 1e6 / len(text)))):
            out.write(text)


def write_mtx(path, megabytes):
    """Entries at random places, as SciPy's mmwrite writes them."""
    entries = round(megabytes * 1e6 / 34.3)
    random = np.random.default_rng(2)
    n = 10**6
    lines = np.char.mod("%.16e", random.normal(size=10**5))
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n%\n{n} {n} {entries}\n")
        for begin in range(0, entries, len(lines)):
            count = min(len(lines), entries - begin)
            rows = random.integers(1, n + 1, count)
            columns = random.integers(1, n + 1, count)
            out.writelines(f"{i} {j} {v}\n" for i, j, v in zip(rows, columns, lines))


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(path, peer, repetitions, folder):
    def ours():
        database = folder / "lab.tsdb"
        shutil.rmtree(database, ignore_errors=True)
        db = ts.connect(database)
        seconds = timed(lambda: db.import_file("x", path))
        shutil.rmtree(database)
        return seconds

    times = [[], []]
    works = ours, lambda: timed(lambda: peer(path))
    for i in range(repetitions + 1):
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            seconds = works[which]()
            if i > 0 or repetitions == 1:
                times[which].append(seconds)
    return [statistics.median(t) for t in times]


CASES = [
    ("csv", "numpy.loadtxt", write_csv, lambda path: np.loadtxt(path, delimiter=",")),
    ("mtx", "scipy.io.mmread", write_mtx, scipy.io.mmread),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", default=None, help="where the files are made; a temporary one by default")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-import-", dir=arguments.folder))
    try:
        for ending, name, write, peer in CASES:
            path = folder / f"x.{ending}"
            write(path, arguments.megabytes)
            ours, theirs = compare(path, peer, arguments.repetitions, folder)
            size = path.stat().st_size / 1e6
            print(json.dumps({"name": f"import of {size:.0f} MB of {ending}, durable", "peer": name,
                              "ours_ms": ours * 1e3, "peer_ms": theirs * 1e3,
                              "ratio": theirs / ours, "bar": ">= 5"}), flush=True)
            path.unlink()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
