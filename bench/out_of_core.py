#!/usr/bin/python3
"""Work on relations larger than memory may be: time, memory and bytes, as ratios.

A product of two 12,000 x 12,000 matrices from disk to disk, with a limit and without; and a chain of
elementwise operations and a sum over a matrix of four times the limit, against the rate of the disk.
"""
import sys

from measured import in_turns, measure, medians, parser_of, print_lines, temporary_database


def product(program, folder, limit, extent, tile, repeat):
    for name in ("A", "B"):
        measure(program, "make", folder, name, extent, tile)
    limited, free = in_turns(repeat, lambda: measure(program, "multiply", folder, limit),
                             lambda: measure(program, "multiply", folder))
    ours, peer = medians(limited), medians(free)
    worst = max(run["resident"] for run in limited)
    print(f"# {extent}^3 within {limit}: {worst / 1e6:.0f} MB resident at most, "
          f"{ours['read'] / 1e9:.2f} GB read, {ours['spilled'] / 1e9:.2f} GB spilled; without a limit "
          f"{peer['resident'] / 1e6:.0f} MB resident, {peer['read'] / 1e9:.2f} GB read", file=sys.stderr)
    yield {"name": f"product {extent}^3 disk to disk, {limit}", "peer": "no limit",
           "ours_ms": ours["seconds"] * 1e3, "peer_ms": peer["seconds"] * 1e3,
           "ratio": ours["seconds"] / peer["seconds"], "bar": "<= 1.25"}
    yield {"name": f"  its resident memory (MB in place of ms)", "peer": "640 MB",
           "ours_ms": worst / 1e6, "peer_ms": 640, "ratio": worst / 640e6, "bar": "<= 1.0"}


def chain(program, folder, limit, extent, tile, repeat):
    measure(program, "make", folder, "X", extent, tile)
    ours, disk = in_turns(repeat, lambda: measure(program, "chain", folder, limit),
                          lambda: measure(program, "scan", folder))
    ours, disk = medians(ours), medians(disk)
    bytes_of_x = extent * extent * 8
    rate, peer = bytes_of_x / ours["seconds"], disk["read"] / disk["seconds"]
    print(f"# chain over {bytes_of_x / 1e9:.2f} GB within {limit}: {rate / 1e9:.2f} GB/s, the disk "
          f"{peer / 1e9:.2f} GB/s; {ours['read'] / bytes_of_x:.3f} passes, "
          f"{ours['resident'] / 1e6:.0f} MB resident", file=sys.stderr)
    yield {"name": f"chain and sum of {bytes_of_x / 1e9:.1f} GB, {limit}", "peer": "the disk's rate",
           "ours_ms": ours["seconds"] * 1e3, "peer_ms": disk["seconds"] * 1e3,
           "ratio": rate / peer, "bar": ">= 0.8"}
    yield {"name": "  its passes over the data", "peer": "1", "ours_ms": ours["read"] / 1e6,
           "peer_ms": bytes_of_x / 1e6, "ratio": ours["read"] / bytes_of_x, "bar": "<= 1.0"}


def lines(build, repeat=5, extent=12000, limit="512MB", folder=None):
    program = f"{build}/bench/bench_out_of_core"
    for work, *sizes in ((product, extent, 1000), (chain, 16000, 1000)):
        with temporary_database(folder) as where:
            yield from work(program, where, limit, *sizes, repeat)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--extent", type=int, default=12000, help="of the product's matrices")
    parser.add_argument("--limit", default="512MB")
    parser.add_argument("--folder", default="/var/tmp", help="on the disk to be measured")
    options = parser.parse_args()
    print_lines(lines(options.build, options.repeat, options.extent, options.limit, options.folder))


if __name__ == "__main__":
    main()
