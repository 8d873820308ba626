#!/usr/bin/python3
"""Recursive SQL cut into frames, as ratios: a network of eight hidden layers that learns.

How long it takes to unroll and to cut plans of more and more iterations; 60 iterations in frames
against the same as one plan, in time and in memory; the memory of 2,000 iterations beside that of 60;
and 2,000 iterations in an address space in which the one plan cannot run.
"""
import statistics
import sys

from measured import call, in_turns, measure, parser_of, print_lines, temporary_database

ONE_PLAN = 1_000_000_000  # a frame that holds everything


def cutting(program, folder, frame_size):
    print("# iterations  operators  versions  frames  unroll s   cut s  us/operator  resident MB",
          file=sys.stderr)
    for iterations in (60, 200, 600, 2000):
        found = measure(program, "cut", folder, iterations, frame_size)
        seconds = found["unroll"] + found["cut"]
        print(f"# {iterations:10} {found['operators']:10} {found['versions']:9} {found['frames']:7} "
              f"{found['unroll']:9.3f} {found['cut']:7.3f} {seconds / found['operators'] * 1e6:12.1f} "
              f"{found['resident'] / 1e6:12.0f}", file=sys.stderr)
        if iterations == 60:
            yield {"name": f"unroll and cut {found['operators']} operators", "peer": "2 s",
                   "ours_ms": seconds * 1e3, "peer_ms": 2000, "ratio": seconds / 2, "bar": "<= 1.0"}
        if iterations == 2000:
            yield {"name": f"unroll and cut {found['operators']} operators", "peer": "40 s",
                   "ours_ms": seconds * 1e3, "peer_ms": 40000, "ratio": seconds / 40, "bar": "<= 1.0"}
            yield {"name": "  its resident memory (MB in place of ms)", "peer": "4 GB",
                   "ours_ms": found["resident"] / 1e6, "peer_ms": 4000,
                   "ratio": found["resident"] / 4e9, "bar": "<= 1.0"}


def differ(one, other):
    return max(abs(a - b) / abs(b) for a, b in zip(one["sums"], other["sums"], strict=True))


def training(program, folder, iterations, many, repeat):
    framed, whole = in_turns(repeat, lambda: measure(program, "train", folder, iterations, 0),
                             lambda: measure(program, "train", folder, iterations, ONE_PLAN))
    worst = max(differ(a, b) for a in framed for b in whole)
    if not worst < 1e-9:
        raise RuntimeError(f"weights of framed and unframed training differ by {worst}")
    ours, peer = (statistics.median(run["seconds"] for run in runs) for runs in (framed, whole))
    yield {"name": f"{iterations} iterations in frames", "peer": "one plan", "ours_ms": ours * 1e3,
           "peer_ms": peer * 1e3, "ratio": ours / peer, "bar": "<= 1.05"}
    most = max(run["resident"] for run in framed)
    least = min(run["resident"] for run in whole)
    yield {"name": "  its resident memory (MB in place of ms)", "peer": "one plan",
           "ours_ms": most / 1e6, "peer_ms": least / 1e6, "ratio": most / least, "bar": "<= 1.0"}

    limit = 1_500_000_000
    refused = call(program, "train", folder, many, ONE_PLAN, address_space=limit)
    print(f"# {many} iterations as one plan within {limit / 1e9} GB of addresses: exit status "
          f"{refused.returncode}, {refused.stderr.strip()}", file=sys.stderr)
    long = measure(program, "train", folder, many, 0, address_space=limit)
    print(f"# {many} iterations in frames within the same: {long['seconds']:.0f} s, "
          f"{long['resident'] / 1e6:.0f} MB resident", file=sys.stderr)
    yield {"name": f"memory of {many} iterations (MB)", "peer": f"{iterations} iterations",
           "ours_ms": long["resident"] / 1e6, "peer_ms": most / 1e6, "ratio": long["resident"] / most,
           "bar": "<= 1.1"}
    yield {"name": f"{many} iterations in 1.5 GB: one plan runs", "peer": "it cannot",
           "ours_ms": 0, "peer_ms": 0, "ratio": 1.0 if refused.returncode == 0 else 0.0,
           "bar": "<= 0.0"}


def lines(build, repeat=5, width=1024, batch=256, tile=512, iterations=60, many=2000, folder=None):
    program = f"{build}/bench/bench_framed"
    with temporary_database(folder) as where:
        measure(program, "make", where, width, batch, tile)
        yield from cutting(program, where, 2500)
        yield from training(program, where, iterations, many, repeat)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--folder", help="where the database is made")
    options = parser.parse_args()
    print_lines(lines(options.build, options.repeat, options.width, many=options.many,
                      folder=options.folder))


if __name__ == "__main__":
    main()
