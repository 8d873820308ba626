"""The program that runs the benchmarks says how long they took."""
import importlib.util
import pathlib
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "run.py"


@pytest.fixture
def bench(monkeypatch):
    """The script with a short and a long family that take no time."""
    spec = importlib.util.spec_from_file_location("bench_run", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    line = {"name": "nothing", "peer": "nobody", "ours_ms": 1.0, "peer_ms": 1.0, "ratio": 1.0}
    monkeypatch.setattr(script, "SHORT", {"short": lambda build: [line]})
    monkeypatch.setattr(script, "LONG", {"long": lambda build: [line]})
    return script


def said(bench, monkeypatch, capsys, minutes, *families):
    times = iter([100.0, 100.0 + minutes * 60])
    monkeypatch.setattr(bench.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(sys, "argv", ["run.py", *families])
    assert bench.main() == 0
    return capsys.readouterr().out.splitlines()[-1]


def test_the_time_is_told_at_the_end(bench, monkeypatch, capsys):
    assert said(bench, monkeypatch, capsys, 2.5) == "2.5 minutes elapsed"


def test_more_than_15_minutes_are_too_many_for_the_short_families(bench, monkeypatch, capsys):
    assert said(bench, monkeypatch, capsys, 16) == \
        "16.0 minutes elapsed: more than the 15 that the short families may take together"
    assert said(bench, monkeypatch, capsys, 16, "long") == "16.0 minutes elapsed"
