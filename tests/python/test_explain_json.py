"""EXPLAIN (FORMAT JSON): each object has the fields that docs/sql.md lists, and no others."""
import json
import pathlib
import re

import pytest
import tessera as ts

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "sql.md"
OF_ANY_NAME = {"plans[].rules[].refusals", "plans[].passes[].refusals"}  # their fields are reasons

DATA = """
CREATE TENSOR X AS [[1, 2], [3, 4]];
CREATE TABLE t (i INT, x DOUBLE);
INSERT INTO t VALUES (0, 0.5), (1, 1.5), (2, 2.5);
CREATE TABLE tiles (i INT, j INT, m MATRIX[2][2]);
INSERT INTO tiles VALUES (0, 0, [[1, 2], [3, 4]]), (0, 1, [[5, 6], [7, 8]]), (1, 0, [[1, 0], [0, 1]]);
CREATE TABLE v[0] AS SELECT 0 AS k, [[1, 2], [3, 4]] AS m;
CREATE TABLE v[n:1...] AS SELECT k, m + 1 AS m FROM v[n-1];
SET frame_size = 10;
"""
STATEMENTS = {
    "a tensor": "CREATE TENSOR C AS X @ X",
    "a stored table": "SELECT i, x FROM t",
    "a plan": "SELECT a.i, b.j, SUM(a.m @ b.m) AS m FROM tiles AS a, tiles AS b WHERE a.j = b.i GROUP BY a.i, b.j",
    "a plan whose keys are filtered": "SELECT i, s FROM (SELECT i, SUM(m) AS s FROM tiles GROUP BY i) AS all_of WHERE i < 1",
    "rows": "SELECT i, x FROM t ORDER BY x LIMIT 1",
    "rows of a plan": "SELECT i, SUM(sum_elements(m)) AS s FROM tiles GROUP BY i ORDER BY s",
    "what is known later": "SELECT t.x, tiles.m FROM t, tiles WHERE t.i = tiles.i ORDER BY tiles.i",
    "several plans": "EXECUTE (SELECT SUM(m) AS m FROM tiles; MATERIALIZE v[2])",
    "a new table": "CREATE TABLE u AS SELECT i, m + 1 AS m FROM tiles",
    "frames": "SELECT m FROM v[30]",
    "loops": "CREATE TENSOR L AS { for i = 0, 1 do for j = 0, 1 do L[i, j] := X[i, j] * 2; }",
}
OPTIONS = {"": "", "sites": ", SITES 4", "verbose": ", VERBOSE"}


@pytest.fixture(scope="module")
def session():
    session = ts.Database.temporary().session()
    session.sql(DATA)
    return session


def documented():
    """The fields of each kind of object, by its path in the document."""
    table = PAGE.read_text().split("### EXPLAIN as JSON")[1].split("\n#")[0]
    fields = {}
    for line in table.splitlines():
        if not line.startswith("| ") or line.startswith("| object"):
            continue
        paths, described = (part.strip() for part in line.strip("|").split("|"))
        names = {name for part in described.split("; ") for name in re.findall(r"`(\w+)`", part.split(":")[0])}
        for path in re.findall(r"`(\S+?)`", paths) or [""]:
            fields[path] = names
    return fields


def objects(value, path=""):
    """All objects of a document, with their paths."""
    if isinstance(value, dict) and path not in OF_ANY_NAME:
        yield path, value
        for name, field in value.items():
            yield from objects(field, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from objects(item, path + "[]")


def explained(session, options, statement):
    result = session.sql(f"EXPLAIN {options} {statement}")
    return json.loads("\n".join(row[0] for row in result))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=[name or "plain" for name in OPTIONS])
@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
@pytest.mark.parametrize("analyze", ["", "ANALYZE"])
def test_every_object_has_the_fields_that_are_documented(session, analyze, options, statement):
    fields = documented()
    document = explained(session, f"{analyze} (FORMAT JSON{options})", statement)
    assert (document["analyze"] is not None) == bool(analyze)
    for path, value in objects(document):
        assert set(value) == fields[path], path


def test_every_object_that_is_documented_occurs(session):
    seen = {path for options in OPTIONS.values() for statement in STATEMENTS.values()
            for path, _ in objects(explained(session, f"ANALYZE (FORMAT JSON{options})", statement))}
    # Operators that look at rows are not known later once they have been analysed.
    seen |= {path for statement in STATEMENTS.values()
             for path, _ in objects(explained(session, "(FORMAT JSON)", statement))}
    assert seen == set(documented())
