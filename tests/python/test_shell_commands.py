"""The commands of the shell itself, which begin with a dot."""
import json
import re

import numpy as np
import pytest

from test_shell_statements import PEOPLE, printed, tessera


def test_help_lists_every_command():
    said = printed(given=".help\n")
    for command in (".help", ".tables", ".schema", ".mode", ".timer", ".read", ".output", ".import",
                    ".open", ".quit", ".exit", ".maxrows"):
        assert re.search(rf"^\{command}\b", said, re.M)


def test_tables_and_schema(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((7, 5)))
    given = (PEOPLE + "CREATE VIEW old AS SELECT name FROM people WHERE age > 26;\n"
             "CREATE TABLE p[i:0] (v) AS SELECT 1 AS v;\n"
             "CREATE TABLE k (a INT, b DOUBLE, PRIMARY KEY (a));\n"
             f".import {tmp_path / 'x.npy'} X\n.mode json\n")
    tables = printed(given=given + ".tables")
    rows = json.loads(tables[tables.index("[{"):])
    assert {row["name"]: row["kind"] for row in rows} == {
        "X": "tensor", "k": "table", "old": "view", "p": "versioned table", "people": "table"}
    schema = printed(given=given + ".schema").splitlines()[-5:]
    assert schema[1] == "CREATE TABLE k (a INT, b DOUBLE, PRIMARY KEY (a));"
    assert schema[0].startswith("-- TENSOR X [7][5] TILE ")
    assert schema[2] == "CREATE TABLE p[i:0] (v) AS SELECT 1 AS v;"
    assert schema[3] == "CREATE TABLE people (id INT, age INT, name TEXT);"
    assert schema[4].startswith("CREATE VIEW old AS SELECT name FROM people WHERE ")
    # What defines everything can be read again.
    again = printed(given="\n".join(schema) + "\n.schema people\n")
    assert again.splitlines()[-1] == schema[3]
    ended = tessera(given=PEOPLE + ".schema nobody")
    assert ended.returncode == 1 and '"nobody" not found; available: people' in ended.stderr


def test_modes_are_chosen_and_told():
    assert printed(given=".mode\n.mode csv\n.mode\nSELECT 1 AS a;\n.MODE json;\nSELECT 1 AS a;") == \
        'table\ncsv\na\r\n1\r\n[{"a":1}]\n'
    ended = tessera(given=".mode xml")
    assert ended.stderr == 'TypeError: mode "xml" not found; available: table, csv, json, line\n'


def test_the_time_of_a_statement_is_told_beside_the_data():
    for mode in ("table", "csv"):
        given = "SELECT 1 AS a; COPY (SELECT 2 AS b) TO '/dev/stdout';"
        plain = tessera("--format", mode, given=given)
        timed = tessera("--format", mode, given=f".timer on\n{given}\n.timer off\nSELECT 3 AS c WHERE FALSE;")
        assert timed.stdout.startswith(plain.stdout)
        assert re.fullmatch(r"SELECT: \d+\.\d{3} s\nCOPY: \d+\.\d{3} s\n", timed.stderr)


def test_rows_are_cut():
    given = "CREATE TABLE t (x INT); INSERT INTO t VALUES (1), (2), (3), (4);\n.maxrows 2\n"
    said = printed(given=given + "SELECT x FROM t ORDER BY x;\n.maxrows")
    assert said.endswith(" 1\n 2\n(4 rows, 2 shown: .maxrows)\n2\n")
    assert printed(given=given + ".mode csv\nSELECT x FROM t;").count("\r\n") == 5
    assert "(4 rows)" in printed(given=given + ".maxrows 0\nSELECT x FROM t;")


def test_files_are_read_and_their_errors_have_their_names(tmp_path):
    inner, outer = tmp_path / "in ner.sql", tmp_path / "outer.sql"
    inner.write_text("SELECT 2 AS b;\nSELECT nope;\n")
    outer.write_text(f"SELECT 1 AS a;\n.read '{inner}'\nSELECT 3 AS c;\n")
    ended = tessera("--format", "csv", given=f".read {outer}\nSELECT 4 AS d;")
    assert ended.returncode == 1 and ended.stdout == "a\r\n1\r\nb\r\n2\r\n"
    assert f"\n{inner}:2: SELECT nope;\n" in ended.stderr and ended.stderr.count("Error") == 1
    outer.write_text(f".read {outer}\n")
    ended = tessera("-f", outer)
    assert ended.returncode == 1 and ".read is nested more than" in ended.stderr


def test_results_go_to_a_file_and_back(tmp_path):
    file = tmp_path / "out put.csv"
    said = printed("--format", "csv",
                   given=f".output '{file}'\nSELECT 1 AS a;\n.output\nSELECT 2 AS b;")
    assert said == "b\r\n2\r\n" and file.read_bytes() == b"a\r\n1\r\n"
    ended = tessera(given=f".output {tmp_path / 'none' / 'x'}")
    assert ended.returncode == 1 and "No such file or directory" in ended.stderr
    ended = tessera(given=".output /dev/full\nSELECT 1;\n")
    assert ended.returncode == 1 and "/dev/full" in ended.stderr


def test_import(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    said = printed(given=f".import {tmp_path / 'x.npy'} X\n.mode json\nSELECT tile FROM X;")
    assert said == 'X: read 2 rows\n[{"tile":[[0.0,1.0,2.0],[3.0,4.0,5.0]]}]\n'
    ended = tessera(given=".import nowhere.npy X")
    assert ended.returncode == 1 and "nowhere.npy" in ended.stderr


def test_another_database_is_opened_with_the_same_settings(tmp_path):
    assert tessera(tmp_path / "a", "-c", "SELECT 1").returncode == 0
    said = printed("--format", "csv", "--threads", "1",
                   given=f"SET tile_size = 7;\n.open {tmp_path / 'a'}\nCREATE TABLE t (x INT);\n.open\nSHOW TABLES;\n"
                         f".open {tmp_path / 'a'}\nSELECT * FROM t;\nSHOW SETTINGS;")
    lines = said.splitlines()
    assert lines[0] == "name,kind,rows,bytes" and lines[1] == "x"
    assert any(line.startswith("threads,1,") for line in lines)
    assert any(line.startswith("tile_size,7,") for line in lines)
    ended = tessera(given=".open /proc/nowhere\nSELECT 1;")
    assert ended.returncode == 1 and ended.stdout == ""


@pytest.mark.parametrize("command", [".quit", ".exit", "  .quit ;"])
def test_leaving(command, tmp_path):
    assert printed("--format", "csv", given=f"SELECT 1 AS a;\n{command}\nSELECT 2 AS b;") == "a\r\n1\r\n"
    script = tmp_path / "s.sql"
    script.write_text(f"{command}\n")
    assert printed("-f", script, "-c", "SELECT 1") == ""


@pytest.mark.parametrize("command, said", [
    (".tabels", 'command ".tabels" not found; did you mean ".tables"?'),
    (".xyzzyx", 'command ".xyzzyx" not found; .help lists all commands'),
    (".read", "usage: .read FILE"), (".timer maybe", ".timer must be on or off, not 'maybe'"),
    (".import a", "usage: .import FILE NAME"), (".quit now", "usage: .quit\n"),
    (".maxrows -1", ".maxrows must be a number"), (".read 'x", "unterminated quoted string at 'x"),
    (".", 'command "." not found')])
def test_commands_that_are_wrong(command, said):
    ended = tessera(given=command + "\nSELECT 1;")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("TypeError: ") and said in ended.stderr
