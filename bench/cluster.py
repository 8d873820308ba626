#!/usr/bin/python3
"""Distributed matrix products: ours against ScaLAPACK, PETSc and Dask.

Each case is a number of hosts, a rate of their links and a shape. It runs on a throw-away cluster of
network namespaces, which `netcluster` makes and removes (--netcluster, or NETCLUSTER in the
environment; root). One rank a host, one BLAS thread a rank. For each peer it first looks for the best
setting with few repetitions, then measures that setting and ours in turns, one start of the program
for each repetition, and counts the bytes that the hosts sent. `make -C bench/peers bench-peers`
builds the peers.

Dask runs its workers on the loopback of one machine, so it has a case of its own: the square product,
against ours on hosts whose links have no limit.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SQUARE = "4000x4000x4000"
# Of Open MPI's TCP: `send` uses both directions of a link at once, its own default takes turns.
TCP = {"send": "send", "default": "send,put,inplace,need-ack,need-csum,hetero-rdma"}
FIRST_LIMIT = 15  # seconds; a setting in the search may take this long, or twice the best so far
MPIRUN_TIMED_OUT = 110


class Failure(Exception):
    """A run that ended badly; the text says how."""


class TimedOut(Failure):
    pass


def run(command, limit):
    """The output of a command, which is asked to end, then killed, when it takes too long."""
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        output, errors = process.communicate(timeout=limit)
    except BaseException as error:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TimedOut(f"no end after {limit:.0f} s: {' '.join(command)}") from None
        raise
    if process.returncode:
        last = "\n".join((output + errors).splitlines()[-12:])
        kind = TimedOut if process.returncode == MPIRUN_TIMED_OUT else Failure
        raise kind(f"status {process.returncode} of {' '.join(command)}\n{last}")
    return output


def figures(command, limit):
    """The lines of JSON that a program prints."""
    lines = [json.loads(line) for line in run(command, limit).splitlines() if line.startswith("{")]
    if not lines:
        raise Failure(f"no figures from {' '.join(command)}")
    return lines


class Cluster:
    """Hosts that are up."""

    def __init__(self, netcluster, hosts, rate):
        self.netcluster, self.hosts, self.rate = netcluster, hosts, rate

    @classmethod
    @contextlib.contextmanager
    def up(cls, netcluster, hosts, rate):
        """Whatever happens inside the `with`, the hosts are gone after it."""
        try:
            run([netcluster, "up", str(hosts), rate, "--ingress"], 120)
            yield cls(netcluster, hosts, rate)
        finally:
            signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            handlers = [signal.signal(number, signal.SIG_IGN) for number in signals]
            subprocess.run([netcluster, "down"], timeout=120)
            for number, handler in zip(signals, handlers):
                signal.signal(number, handler)

    def mpirun(self, command, tcp, limit):
        """The lines that the program prints, and the bytes that all hosts sent meanwhile."""
        run([self.netcluster, "bytes", "--reset"], 60)
        lines = figures([self.netcluster, "mpirun", "--timeout", str(int(limit)),
                         "--mca", "btl_tcp_flags", TCP[tcp], *command], limit + 60)
        total = run([self.netcluster, "bytes"], 60).splitlines()[-1]
        return lines, int(total.split()[1])


def has_long_sums(shape):
    """Whether the common dimension is by far the largest."""
    m, k, n = (int(extent) for extent in shape.split("x"))
    return k >= 16 * max(m, n)


class Ours:
    name = "ours"

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())

    def stages(self, hosts, shape):
        """The tiles it chooses by itself; where only sums travel, also twice as many, so that the
        first half of them travels while the second is computed: that pays on slow links."""
        yield [{}] + ([{"tiles": f"2x{hosts}x1"}] if has_long_sums(shape) else [])

    def run(self, cluster, shape, setting, repeat, limit):
        tiles = ["--tiles", setting["tiles"]] if "tiles" in setting else []
        return cluster.mpirun([self.program, "--shape", shape, "--threads", "1", *tiles,
                               "--repeat", str(repeat), "--json"], "send", limit)


class MpiPeer:
    """A program of bench/peers. A setting is its options, and `tcp`."""

    def __init__(self, name):
        self.name = name
        self.program = str(ROOT / "build/peers" / name)

    def run(self, cluster, shape, setting, repeat, limit):
        options = [word for option, value in setting.items() if option != "tcp"
                   for word in (f"--{option}", str(value))]
        return cluster.mpirun([self.program, "--shape", shape, "--repeat", str(repeat), *options],
                              setting["tcp"], limit)


class ScaLapack(MpiPeer):
    def __init__(self):
        super().__init__("scalapack")

    def stages(self, hosts, shape):
        """First how the operands are stored and on which grid, then block sizes, then transport.
        What is likely to be best comes first: the rest may take no more than twice as long."""
        forms = ("tn", "nt", "nn") if has_long_sums(shape) else ("nn", "tn", "nt")
        sides = [(p, hosts // p) for p in range(1, hosts + 1) if hosts % p == 0]
        sides.sort(key=lambda side: abs(side[0] - side[1]), reverse=has_long_sums(shape))
        grids = [f"{rows}x{columns}" for rows, columns in sides]
        yield [{"form": form, "grid": grid, "block": 256, "panel": 256, "tcp": "send"}
               for form in forms for grid in grids]
        yield [{"block": block, "panel": panel} for block in (64, 256) for panel in (0, 256)]
        yield [{"tcp": tcp} for tcp in TCP]


class Petsc(MpiPeer):
    def __init__(self):
        super().__init__("petsc")

    def stages(self, _, shape):
        """B goes to every rank in `mmt` (K N elements), a product to every rank in `tmm` (M N): one
        that moves far more than the other is not tried, as it might not fit in memory either."""
        m, k, _ = (int(extent) for extent in shape.split("x"))
        first = []
        if k <= 4 * m:
            first += [{"form": "mmt", "via": via, "tcp": "send"} for via in ("cyclic", "allgatherv")]
        if m <= 4 * k:
            first.append({"form": "tmm", "tcp": "send"})
        yield first
        yield [{"tcp": tcp} for tcp in TCP]


class Dask:
    name = "dask"
    program = str(ROOT / "build/peers-venv/bin/python")

    def stages(self, *_):
        yield [{"chunk": chunk} for chunk in (500, 1000, 2000)]

    def run(self, cluster, shape, setting, repeat, limit):
        command = [self.program, str(ROOT / "bench/peers/dask_matmul.py"), "--shape", shape,
                   "--workers", str(cluster.hosts), "--repeat", str(repeat),
                   "--chunk", str(setting["chunk"])]
        return figures(command, limit), None


PEERS = {"scalapack": ScaLapack, "petsc": Petsc, "dask": Dask}


def described(setting):
    """nn 2x2 block=256 panel=256 send"""
    return " ".join(f"{option}={value}" if isinstance(value, int) else value
                    for option, value in setting.items())


def search(peer, cluster, shape, options):
    """The best setting and everything tried. Each stage varies the leaders of those before it."""
    tried = {}
    leaders = [{}]
    shortest = None
    for stage in peer.stages(cluster.hosts, shape):
        for setting in [{**leader, **change} for leader in leaders for change in stage]:
            if described(setting) in tried:
                continue
            begin = time.monotonic()
            limit = min(options.timeout, max(FIRST_LIMIT, 2 * (shortest or options.timeout)))
            try:
                lines, _ = peer.run(cluster, shape, setting, options.search_repeat, limit)
                seconds = min(line["seconds"] for line in lines)
                shortest = min(shortest or limit, time.monotonic() - begin)
            except TimedOut:
                seconds = None
            tried[described(setting)] = {"setting": setting, "seconds": seconds}
            print(f"    {peer.name:10} {described(setting):40} "
                  f"{f'{seconds:9.3f} s' if seconds else f'over {limit:.0f} s'}", flush=True)
        finished = [t for t in tried.values() if t["seconds"]]
        if not finished:
            raise Failure(f"no setting of {peer.name} ends within {options.timeout} s on {shape}")
        finished.sort(key=lambda t: t["seconds"])
        leaders = [t["setting"] for t in finished[:1 if options.quick else 2]]
    return leaders[0], list(tried.values())


def start_up_bytes(cluster, options):
    """What mpirun and MPI_Init send by themselves: one element beside them is nothing."""
    peer, setting = ScaLapack(), {"form": "nn", "tcp": "send"}
    return statistics.median(peer.run(cluster, "1x1x1", setting, 1, options.timeout)[1]
                             for _ in range(3))


def busy():
    """The share of the processors that others use just now."""
    def ticks():
        with open("/proc/stat") as stat:
            numbers = [int(word) for word in stat.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all; idle or waiting for a disk

    before = ticks()
    time.sleep(1)
    after = ticks()
    return 1 - (after[1] - before[1]) / max(after[0] - before[0], 1)


def measure(cluster, shape, ours, peers, options):
    """One case: {"results": [...], ...}; ours comes first."""
    others = busy()
    start_up = start_up_bytes(cluster, options)
    contestants, searched = [], {}
    for peer in ([ours] if ours else []) + peers:
        setting, searched[peer.name] = search(peer, cluster, shape, options)
        contestants.append({"tool": peer.name, "setting": setting, "program": peer})
    for contestant in contestants:
        contestant.update(seconds=[], bytes=[])
    for repetition in range(options.repeat):
        for contestant in contestants if repetition % 2 == 0 else reversed(contestants):
            lines, count = contestant["program"].run(cluster, shape, contestant["setting"], 1,
                                                     options.timeout)
            contestant["seconds"] += [line["seconds"] for line in lines]
            if count is not None:
                contestant["bytes"].append(count - start_up)
            if "predicted_bytes" in lines[0]:
                contestant["predicted_bytes"] = lines[0]["predicted_bytes"]
    for contestant in contestants:
        del contestant["program"]
        contestant["median"] = statistics.median(contestant["seconds"])
    case = {"hosts": cluster.hosts, "rate": cluster.rate, "shape": shape, "busy": others,
            "start_up_bytes": start_up, "results": contestants, "search": searched}
    against = [c for c in contestants if c["tool"] != "ours"]
    if against:
        best = min(against, key=lambda c: c["median"])
        case["best_peer"] = best["tool"]
        if ours:
            case["ratio"] = contestants[0]["median"] / best["median"]
    return case


def title(case):
    return f"{case['hosts']} hosts, {case['rate']}, {case['shape']}"


def print_case(case):
    print(f"\n{title(case)}  "
          f"(MB without the {case['start_up_bytes'] / 1e6:.2f} MB that mpirun sends to start)")
    if case["busy"] > 0.1:
        print(f"  NOTE: others used {case['busy']:.0%} of the processors when this case began")
    print(f"  {'tool':10} {'setting':40} {'median s':>9} {'min - max s':>17} {'MB':>9} "
          f"{'ours/it':>8}")
    ours = next((c["median"] for c in case["results"] if c["tool"] == "ours"), None)
    for c in case["results"]:
        setting = described(c["setting"])
        if "predicted_bytes" in c:
            setting = f"{setting} predicted {c['predicted_bytes'] / 1e6:.1f} MB".strip()
        spread = f"{min(c['seconds']):.3f} - {max(c['seconds']):.3f}"
        sent = f"{statistics.median(c['bytes']) / 1e6:.1f}" if c["bytes"] else "-"
        ratio = f"{ours / c['median']:.3f}" if ours and c["tool"] != "ours" else ""
        print(f"  {c['tool']:10} {setting:40} {c['median']:9.3f} {spread:>17} {sent:>9} {ratio:>8}")
    print(flush=True)


def print_summary(cases):
    print(f"{'case':36} {'best peer':10} {'peer s':>9} {'ours s':>9} {'ours/peer':>10}")
    for case in cases:
        by_tool = {c["tool"]: c["median"] for c in case["results"]}
        peer, ours = case.get("best_peer", "-"), by_tool.get("ours")
        numbers = [f"{n:.3f}" if n else "-" for n in (by_tool.get(peer), ours, case.get("ratio"))]
        print(f"{title(case):36} {peer:10} {numbers[0]:>9} {numbers[1]:>9} {numbers[2]:>10}")


def words(text):
    return [word for word in text.split(",") if word]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--netcluster", metavar="PATH", default=os.environ.get("NETCLUSTER"),
                        help="the script that makes the cluster")
    parser.add_argument("--ours", metavar="PATH",
                        default=str(ROOT / "build/release/examples/multiply_distributed"),
                        help="our program, or none (default: %(default)s)")
    parser.add_argument("--peers", default="scalapack,petsc,dask", help="default: %(default)s")
    parser.add_argument("--hosts", default="4,8", help="default: %(default)s")
    parser.add_argument("--rates", default="1gbit,100mbit", help="default: %(default)s")
    parser.add_argument("--shapes", default=f"{SQUARE},1000x64000x1000,8000x1000x8000",
                        help="MxKxN (default: %(default)s)")
    parser.add_argument("--repeat", type=int,
                        help="repetitions that are measured (default: 5, with --quick 2)")
    parser.add_argument("--search-repeat", type=int,
                        help="repetitions of a setting in the search (default: 2, with --quick 1)")
    parser.add_argument("--quick", action="store_true",
                        help="fewer repetitions and a shorter search")
    parser.add_argument("--timeout", type=int, default=300,
                        help="seconds a run may take (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write all figures here, after every case")
    options = parser.parse_args()
    options.repeat = options.repeat or (2 if options.quick else 5)
    options.search_repeat = options.search_repeat or (1 if options.quick else 2)
    options.peers = words(options.peers)
    if not options.netcluster:
        parser.error("where is netcluster? (--netcluster PATH, or NETCLUSTER in the environment)")
    for peer in options.peers:
        if peer not in PEERS:
            parser.error(f"unknown peer '{peer}'; there are {', '.join(PEERS)}")
    for program in [ScaLapack().program] + [PEERS[peer]().program for peer in options.peers]:
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is missing; make -C bench/peers bench-peers makes it")
    if options.ours != "none" and not os.access(options.ours, os.X_OK):
        parser.error(f"{options.ours} is missing; build it, or leave ours out by --ours none")
    return options


def main():
    options = parsed()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    os.environ.setdefault("NETCLUSTER_NAME", "bench")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    ours = Ours(options.ours) if options.ours != "none" else None
    peers = [PEERS[name]() for name in options.peers if name != "dask"]
    plan = []  # what one cluster after the other has to do
    if peers or ours:
        plan += [(int(hosts), rate, words(options.shapes), peers)
                 for hosts in words(options.hosts) for rate in words(options.rates)]
    if "dask" in options.peers:
        plan.append((4, "none", [SQUARE], [Dask()]))

    cases, failures = [], 0
    for hosts, rate, shapes, against in plan:
        with Cluster.up(options.netcluster, hosts, rate) as cluster:
            for shape in shapes:
                print(f"{hosts} hosts, {rate}, {shape}: looking for the best settings", flush=True)
                try:
                    cases.append(measure(cluster, shape, ours, against, options))
                except Failure as failure:
                    failures += 1
                    print(f"{hosts} hosts, {rate}, {shape} FAILED: {failure}", file=sys.stderr,
                          flush=True)
                    continue
                print_case(cases[-1])
                if options.json:
                    pathlib.Path(options.json).write_text(json.dumps(cases, indent=1) + "\n")
    print_summary(cases)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"cluster: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
