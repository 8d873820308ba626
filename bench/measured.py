"""Programs that measure themselves: each call is a process of its own and prints what it took as JSON."""
import argparse
import contextlib
import json
import resource
import shutil
import statistics
import subprocess
import tempfile


def call(program, *arguments, address_space=None):
    def limit():
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    return subprocess.run([program, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, preexec_fn=limit)


def measure(program, *arguments, **options):
    """What a program says it took; None if it says nothing."""
    run = call(program, *arguments, **options)
    if run.returncode != 0:
        raise RuntimeError(f"{program} {arguments}: {run.stderr}")
    return json.loads(run.stdout) if run.stdout.strip() else None


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def in_turns(repeat, *calls):
    """What each call measures, all of them once in every round, who goes first alternating."""
    runs = [[] for _ in calls]
    for i in range(repeat):
        order = range(len(calls)) if i % 2 == 0 else reversed(range(len(calls)))
        for which in order:
            runs[which].append(calls[which]())
    return runs


@contextlib.contextmanager
def temporary_database(folder):
    where = tempfile.mkdtemp(suffix=".tsdb", dir=folder)
    try:
        yield where
    finally:
        shutil.rmtree(where)


def parser_of(description):
    """The options that all of these benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--repeat", type=int, default=5)
    return parser


def print_lines(lines):
    for line in lines:
        print(json.dumps(line), flush=True)
