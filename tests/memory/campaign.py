#!/usr/bin/python3
"""Statements that were built to exceed their limit of memory, each in a process of its own, at several limits:
what a process takes at its peak is at most the limit, 64 MB and what the program takes to start, or the
statement is refused with what it needs.

    campaign.py --program build/release/tessera [--every N] [--limits 64MB,1MB]

The peak is what the kernel says of a process that has ended. This one imports little and starts no other
threads, lest what it takes itself be counted as the child's.
"""
import argparse
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import statements

BEYOND = 64_000_000
SPACE = 10 << 30  # of addresses, so that what goes wrong does not take the machine's memory
REFUSAL = re.compile(r"^OutOfMemory: .*(need|take)", re.MULTILINE)

Outcome = collections.namedtuple("Outcome", "status peak error")


def run(arguments, seconds):
    """Runs a program to its end: its status, the bytes it took at its peak, and what it complains of."""
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_RDWR), 0)
                os.dup2(0, 1)
                os.dup2(errors.fileno(), 2)
                resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
                os.execvp("timeout", ["timeout", "--signal=KILL", str(seconds), *arguments])
            finally:
                os._exit(127)
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return Outcome(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, text)


def trial(program, database, limit, statement, seconds):
    asked = ["-f", statement] if statement.endswith(".sql") else ["-c", statement]
    return run([program, database, "--memory-limit", str(limit), *asked], seconds)


def verdict(outcome, allowed):
    """What is wrong, or nothing."""
    if outcome.peak > allowed:
        return f"took {outcome.peak / 1e6:.0f} MB of {allowed / 1e6:.0f}"
    if outcome.status not in (0, 1):
        return f"ended with {outcome.status}: {outcome.error.strip()[-300:]}"
    if outcome.status == 1 and not REFUSAL.search(outcome.error):
        return f"was not refused for its memory: {outcome.error.strip()[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--every", type=int, default=1, help="only one statement of so many")
    parser.add_argument("--limits", default="64MB,1MB")
    parser.add_argument("--seconds", type=int, default=120, help="a statement may take")
    parser.add_argument("--match", default="", help="only statements that contain this")
    parser.add_argument("--inputs", help="a folder that inputs.py has filled")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    folder = options.inputs or tempfile.mkdtemp(prefix="tessera_memory_")
    try:
        if not options.inputs:
            maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inputs.py")
            subprocess.run([sys.executable, maker, program, folder], check=True)
        sys.exit(campaign(program, folder, options))
    finally:
        if not options.inputs:
            shutil.rmtree(folder, ignore_errors=True)


def campaign(program, folder, options):
    database = os.path.join(folder, "db")
    start = max(run([program, database, "-c", "SELECT 1"], 60).peak for _ in range(3))
    chosen = [s for s in statements.ALL[:: options.every] if options.match in s]
    wrong = 0
    for limit in options.limits.split(","):
        bytes_of_limit = int(limit.removesuffix("MB")) * 1_000_000
        refused = done = most = 0
        for number, text in enumerate(chosen):
            out = f"out_{limit}_{number}"
            statement = text.format(files=folder, out=out)
            outcome = trial(program, database, bytes_of_limit, statement, options.seconds)
            trouble = verdict(outcome, bytes_of_limit + BEYOND + start)
            most = max(most, outcome.peak - start - bytes_of_limit)
            refused += outcome.status == 1
            done += outcome.status == 0
            if trouble:
                wrong += 1
                print(f"{limit}: {text[:160]}\n    {trouble}", flush=True)
            elif options.verbose:
                said = "done" if outcome.status == 0 else outcome.error.strip().splitlines()[0]
                print(f"{limit}: {text[:160]}\n    {(outcome.peak - start) / 1e6:.0f} MB, {said}", flush=True)
            if outcome.status == 0 and "{out}" in text:
                tidy(program, database, folder, out, text)
        print(
            f"{limit}: {len(chosen)} statements, {done} done, {refused} refused; at most {most / 1e6:.0f} MB beyond"
            f" the limit and the start ({start / 1e6:.0f} MB)",
            flush=True,
        )
        if not refused or not done:
            wrong += 1
            print(f"{limit}: nothing was {'done' if refused else 'refused'}")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def tidy(program, database, folder, out, text):
    for kind in ("TENSOR", "TABLE"):
        if text.startswith(f"CREATE {kind}"):
            run([program, database, "-c", f"DROP {kind} {out}"], 60)
    for name in os.listdir(folder):
        if name.startswith(out + "."):
            os.remove(os.path.join(folder, name))


if __name__ == "__main__":
    main()
