"""Traces: files for Perfetto and chrome://tracing, of the shell, of sessions, and of a cluster."""
import collections
import json
import time

import numpy as np
import pytest
import tessera as ts

import test_cluster
from test_shell_statements import PROGRAM, printed, tessera

MATRIX = "CREATE TENSOR A TILE [2][2] AS " + json.dumps(np.arange(64.0).reshape(8, 8).tolist())


def events_of(path):
    """The events of a file that is valid for the format."""
    document = json.loads(path.read_text())
    named = set()
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str) and isinstance(event["pid"], int)
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event.get("tid")))
        elif event["ph"] == "C":
            assert event["args"]["bytes"] >= 0
        else:
            assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0
            assert ("thread_name", event["pid"], event["tid"]) in named
    return document["traceEvents"]


def totals(events):
    """How many events of each category there are, and what their arguments add up to."""
    found = collections.defaultdict(collections.Counter)
    for event in events:
        if "cat" not in event:
            continue
        found[event["cat"]]["count"] += 1
        for name in ("bytes", "elements", "flops"):
            found[event["cat"]][name] += event["args"].get(name, 0)
    return found


def test_the_shell_writes_all_that_it_runs(tmp_path):
    file = tmp_path / "run.json"
    printed("--trace", file, "--sites", "4", "-c", MATRIX,
            "-c", "CREATE TENSOR B AS A @ A", "-c", "SELECT 1 AS one")
    events = events_of(file)
    assert {event["pid"] for event in events} == {0, 1, 2, 3}
    found = totals(events)
    assert found["written"]["count"] >= 16
    assert found["transfer"]["elements"] == found["sent"]["elements"] == found["received"]["elements"] > 0


def test_after_an_error_it_is_valid_and_has_what_ran(tmp_path):
    file = tmp_path / "run.json"
    ended = tessera("--trace", file, "-c", MATRIX,
                    "-c", "SELECT inverse(A) FROM nowhere")
    assert ended.returncode == 1
    assert totals(events_of(file))["task"]["count"] > 0


def test_another_database_is_in_the_same_file(tmp_path):
    file = tmp_path / "run.json"
    printed("--trace", file, "-c", f"{MATRIX};\n.open\n"
            f"{MATRIX};")
    once = tmp_path / "once.json"
    printed("--trace", once, "-c", f"{MATRIX};")
    assert totals(events_of(file))["task"]["count"] == 2 * totals(events_of(once))["task"]["count"] > 0


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    ended = tessera("--trace", tmp_path / "nowhere" / "run.json", "-c", "SELECT 1 AS one")
    assert ended.returncode == 1 and ended.stdout == ""
    assert "IoError" in ended.stderr and "run.json" in ended.stderr


def test_a_session_of_python_has_one(tmp_path):
    file = tmp_path / "run.json"
    session = ts.connect().session(trace=str(file), memory_limit="1MB")
    array = tmp_path / "a.npy"
    np.save(array, np.random.default_rng(1).random((400, 400)))
    session.sql(f"CREATE TENSOR A FROM '{array}' TILE [40][40]")
    session.sql("CREATE TENSOR B AS A @ A @ A")
    found = totals(events_of(file))
    assert found["task"]["flops"] >= 2 * 2 * 400**3
    assert found["read"]["bytes"] > 0


def test_operators_are_named_as_by_explain(tmp_path):
    file = tmp_path / "run.json"
    database = ts.connect()
    database.session().sql("CREATE TENSOR A TILE [2][2] AS tile([[1.0, 2.0]], repeats = [4, 2])")
    session = database.session(trace=str(file))
    statement = "CREATE TENSOR B AS relu(A @ A) + 1"
    document = json.loads("\n".join(row[0] for row in session.sql("EXPLAIN (FORMAT JSON) " + statement)))
    explained = {operator["operator"] for plan in document["plans"] for operator in plan["plan"]}
    session.sql(statement)
    tasks = {event["name"] for event in events_of(file) if event.get("cat") == "task"}
    assert any(" + Aggregate" in name for name in tasks)
    assert tasks <= explained


def took(output):
    """What the reports of all processes say: tasks, flops, numbers moved, bytes read and spilled."""
    lines = [[float(word) for word in line.split()[1:]] for line in output.splitlines() if line.startswith("took ")]
    return len(lines), np.sum(lines, axis=0)


@test_cluster.pytestmark
@pytest.mark.parametrize("ranks", [1, 4])
def test_processes_of_a_cluster_write_one_file(tmp_path, ranks):
    file = tmp_path / "run.json"
    ended = test_cluster.run(ranks, test_cluster.PROGRAM, "traced", file)
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    processes, (tasks, flops, moved, read, spilled) = took(ended.stdout)
    assert processes == ranks and spilled > 0 and (moved > 0) == (ranks > 1)
    events = events_of(file)
    found = totals(events)
    assert found["task"]["count"] + found["transfer"]["count"] == tasks
    assert found["task"]["flops"] == flops
    assert found["sent"]["elements"] == found["received"]["elements"] == moved
    assert found["read"]["bytes"] == read
    assert found["spilled"]["bytes"] == spilled
    assert {event["pid"] for event in events} == set(range(ranks))
    # One time base: what is received was sent before.
    sent = {}
    for event in events:
        if event.get("cat") == "sent":
            sent.setdefault((event["pid"], event["name"], event["args"]["of"], event["args"]["key"]), event["ts"])
    for event in events:
        if event.get("cat") == "received":
            source = int(event["name"].split()[-1])
            key = (source, f"send to site {event['pid']}", event["args"]["of"], event["args"]["key"])
            assert event["ts"] >= sent[key] - 1000  # microseconds


@test_cluster.pytestmark
def test_a_cluster_that_fails_leaves_one_valid_file(tmp_path):
    file = tmp_path / "run.json"
    start = time.monotonic()
    ended = test_cluster.run(4, test_cluster.PROGRAM, "traced", file, "fails")
    assert ended.returncode != 0
    assert time.monotonic() - start < 60
    for path in tmp_path.iterdir():
        events_of(path)
    assert totals(events_of(file))["task"]["count"] > 0


@test_cluster.pytestmark
def test_the_shell_under_mpirun_writes_one_file(tmp_path):
    file = tmp_path / "run.json"
    ended = test_cluster.run(3, PROGRAM, "--trace", file, "-c", MATRIX,
                             "-c", "CREATE TENSOR B AS A @ A")
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    events = events_of(file)
    assert {event["pid"] for event in events} == {0, 1, 2}
    assert totals(events)["written"]["count"] > 0


@test_cluster.pytestmark
def test_a_folder_that_is_missing_is_told_by_all(tmp_path):
    ended = test_cluster.run(2, PROGRAM, "--trace", tmp_path / "nowhere" / "run.json", "-c", "SELECT 1 AS one")
    assert ended.returncode == 1 and ended.stdout == ""
    assert "IoError" in ended.stderr and "run.json" in ended.stderr


def test_it_replaces_no_file_of_a_database_and_none_that_may_not_be_written(tmp_path):
    database, inside = tmp_path / "d.tsdb", tmp_path / "inside"
    inside.mkdir()
    db = ts.connect(database)
    (tmp_path / "link.json").symlink_to(database / "catalog.1")
    before = (database / "catalog.1").read_bytes()
    for file in (database / "catalog.1", database / "segments" / "new.json", tmp_path / "link.json"):
        message = "belongs to a database; choose another folder"
        ended = tessera("--trace", file, database, "-c", "SELECT 1")
        assert ended.returncode == 1 and message in ended.stderr
        ended = tessera(given=f".output {file}")
        assert ended.returncode == 1 and message in ended.stderr
        with pytest.raises(ts.IoError, match=message):
            db.session(trace=str(file))
    assert (database / "catalog.1").read_bytes() == before
    for access in ("off", str(inside)):
        ended = tessera("--trace", tmp_path / "t.json", "--external-access", access, "-c", "SELECT 1")
        assert ended.returncode == 1 and f"cannot write {tmp_path / 't.json'}" in ended.stderr
    with pytest.raises(ts.IoError, match="external_access is off"):
        db.session(trace=str(tmp_path / "t.json"), external_access="off")
    with pytest.raises(ts.IoError, match="external_access is off"):
        ts.connect(external_access="off").session(trace=str(tmp_path / "t.json"))
    assert not (tmp_path / "t.json").exists()
    tessera("--trace", inside / "t.json", "--external-access", inside, "-c", "SELECT 1")
    assert events_of(inside / "t.json") == []
