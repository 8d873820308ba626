"""Statements of every kind are stopped by Ctrl-C at random moments: how long until the program is gone.

Prints the distribution for each kind, with the seconds of the processor besides those of the clock, which a machine
that does other things makes longer, and fails if fewer than 99% end within a second, if one takes more than three,
or if a statement was left half done.
"""
import argparse
import fcntl
import os
import pathlib
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from kinds import SETUP, kinds, write_files



class Database:
    def __init__(self, program, folder, scale):
        self.program, self.folder = program, folder
        self.path = folder / "stops.tsdb"
        write_files(folder, scale)
        self.run(SETUP.format(folder=folder))

    def start(self, kind):
        text = kind.statement.format(folder=self.folder)
        script = self.folder / "statement.sql"
        script.write_text(f"{kind.settings};\n{text};\n" if kind.settings else f"{text};\n")
        return subprocess.Popen([self.program, self.path, "-f", script], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run(self, text):
        done = subprocess.run([self.program, self.path], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{text}\n{done.stderr}")
        return done.stdout

    def clean(self, kind):
        """Takes back what a statement that was not stopped has done."""
        for name in ("made",):
            subprocess.run([self.program, self.path, "-c", f"DROP TABLE {name}"], capture_output=True)
            subprocess.run([self.program, self.path, "-c", f"DROP TENSOR {name}"], capture_output=True)
        if kind.makes == "empty":
            self.run("DROP TABLE empty; CREATE TABLE empty (id INT, name TEXT, height DOUBLE);")
        if kind.makes == "locked":
            subprocess.run([self.program, self.path, "-c", "CREATE TABLE locked (id INT)"], capture_output=True)
        for left in self.folder.glob("out.*"):
            left.unlink()

    def fault(self, kind):
        """What is wrong with what is there after a statement that was stopped."""
        shown = self.run(".mode csv\nSHOW TABLES; SHOW TENSORS;")
        if kind.makes == "made" and "made" in shown:
            return "it was stopped, and there is something of it"
        if kind.makes == "empty":
            count = self.run(".mode csv\nSELECT COUNT(*) FROM empty;").split()[-1]
            if count != "0":
                return f"it was stopped, and there are {count} rows of it"
        if any(self.folder.glob("out.*")):
            return "it was stopped, and there is a file of it"
        return None


class Lock:
    """Holds the database's lock, as another program that writes would."""

    def __init__(self, database, wanted):
        self.file = open(database.path / "lock", "r+") if wanted else None

    def __enter__(self):
        if self.file:
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        if self.file:
            self.file.close()


def worked_by_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def worked_by(process):
    """Seconds of the processor that a process has had so far."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_stop(database, kind, after):
    """Seconds from Ctrl-C to the end, or None if it had ended before, and of the processor; and what went wrong."""
    before = worked_by_children()
    with Lock(database, kind.name.startswith("waiting")):
        program = database.start(kind)
        try:
            program.wait(after)
            error = program.stderr.read()
            return None, 0, None if program.returncode == 0 else error
        except subprocess.TimeoutExpired:
            pass
        before += worked_by(program.pid)
        begin = time.monotonic()
        program.send_signal(signal.SIGINT)
        try:
            program.wait(120)
        except subprocess.TimeoutExpired:
            program.kill()
            return 120.0, 120.0, "it goes on for two minutes"
    took = time.monotonic() - begin
    worked = max(0.0, worked_by_children() - before)
    error = program.stderr.read()
    if program.returncode < 0 and program.returncode != -signal.SIGINT:
        return took, worked, f"it was ended by signal {-program.returncode}"
    stopped = "Interrupted" in error
    if program.returncode != 0 and not stopped and error.strip():
        return took, worked, error.strip()
    # A signal that comes when the statement is done ends the program as it would any other.
    return took, worked, database.fault(kind) if stopped else None


def campaign(database, chosen, stops, seed, soon, longest):
    times, faults, late = {}, [], []
    chance = random.Random(seed)
    lasts = {kind.name: min(kind.lasts, longest) for kind in chosen}
    for number in range(stops):
        kind = chosen[number % len(chosen)]
        for _ in range(8):  # until one is stopped before it ends
            after = chance.uniform(0.02, lasts[kind.name])
            took, worked, fault = one_stop(database, kind, after)
            database.clean(kind)
            if fault:
                faults.append(f"{kind.name}, after {after:.2f} s: {fault}")
            if took is not None:
                break
            lasts[kind.name] = min(lasts[kind.name], after)
        if took is None:
            continue
        print(f"{number + 1:4} {kind.name}: {took:.2f} s, after {after:.2f} s", file=sys.stderr, flush=True)
        times.setdefault(kind.name, []).append((took, worked))
        if took > soon:
            late.append(f"{kind.name}: {took:.2f} s ({worked:.2f} s of the processor), after {after:.2f} s")
    return times, faults, late


def report(names, times, faults, late, soon, most):
    print(f"{'kind':28}{'stops':>6}{'median':>9}{'most':>9}{'most of the processor':>25}   seconds")
    for name, of in times.items():
        taken = [took for took, _ in of]
        print(f"{name:28}{len(of):6}{statistics.median(taken):9.2f}{max(taken):9.2f}{max(w for _, w in of):25.2f}")
    everything = sorted(took for of in times.values() for took, _ in of)
    well = sum(took <= soon for took in everything)
    slow = [name for name, of in times.items() if max(took for took, _ in of) > most]
    worked = sorted(w for of in times.values() for _, w in of)
    print(f"{len(everything)} stops of {len(times)} kinds: {well} within {soon:g} s "
          f"({100 * well / max(1, len(everything)):.1f}%), the slowest {everything[-1]:.2f} s; "
          f"of the processor {sum(w <= soon for w in worked)} within {soon:g} s, the slowest {worked[-1]:.2f} s")
    for line in late:
        print("late:", line)
    for line in faults:
        print("FAULT:", line)
    never = sorted(set(names) - set(times))
    if never:
        print("never stopped, as they had ended:", ", ".join(never))
    if slow:
        print(f"more than {most:g} s:", ", ".join(slow))
    return bool(everything) and not faults and not slow and not never and well >= 0.99 * len(everything)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--stops", type=int, default=300)
    parser.add_argument("--scale", type=float, default=1.0, help="how long the statements take, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--soon", type=float, default=1.0, help="seconds within which 99%% are to end")
    parser.add_argument("--most", type=float, default=3.0, help="and all")
    parser.add_argument("--longest", type=float, default=20.0, help="seconds after which all are stopped")
    parser.add_argument("--may-end", action="store_true", help="small statements may end before they are stopped")
    parser.add_argument("--kinds", help="only those whose names have this in them")
    parser.add_argument("--folder", type=pathlib.Path, help="where files go (default: a temporary folder)")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which the programs inherit
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stops", dir=given.folder))
    try:
        chosen = [kind for kind in kinds(given.scale) if not given.kinds or given.kinds in kind.name]
        database = Database(given.program.resolve(), folder, given.scale)
        ended = campaign(database, chosen, given.stops, given.seed, given.soon, given.longest)
        names = [] if given.may_end else [kind.name for kind in chosen[:given.stops]]
        well = report(names, *ended, given.soon, given.most)
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
