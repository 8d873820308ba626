"""Statements given to `tessera` by -c, -f and pipes: what is printed, where, and how it ends."""
import csv
import io
import json
import math
import pathlib
import subprocess

import numpy as np
import pytest
import tessera as ts

PROGRAM = pathlib.Path(ts.__file__).resolve().parent.parent.parent / "tessera"
PEOPLE = """CREATE TABLE people (id INT, age INT, name TEXT);
INSERT INTO people VALUES (1, 30, 'ann'), (2, 25, 'bob'), (3, 30, 'cid');
"""


def tessera(*arguments, given="", **options):
    ended = subprocess.run([str(PROGRAM), *map(str, arguments)], timeout=120, input=given.encode(),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    ended.stdout, ended.stderr = ended.stdout.decode(), ended.stderr.decode()  # CR LF stays CR LF
    return ended


def printed(*arguments, **options):
    ended = tessera(*arguments, **options)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_a_table_is_aligned():
    assert printed("-c", PEOPLE, "-c", "SELECT name, age FROM people ORDER BY id") == """\
created table people
inserted 3 rows
 name │ age
──────┼─────
 ann  │  30
 bob  │  25
 cid  │  30
(3 rows)
"""


def test_commands_and_files_run_in_their_order_and_in_one_session(tmp_path):
    script = tmp_path / "a.sql"
    script.write_text("INSERT INTO t VALUES (2);\n")
    lines = printed("-c", "CREATE TABLE t (x INT)", "-f", script, "--format", "csv",
                    "-c", "SELECT x FROM t", "-f", script, "-c", "SELECT COUNT(*) AS n FROM t")
    assert lines.split() == ["x", "2", "n", "2"]


def test_a_database_stays_and_a_temporary_one_does_not(tmp_path):
    folder = tmp_path / "lab.tsdb"
    ended = tessera(folder, "-c", "CREATE TABLE t (x INT); INSERT INTO t VALUES (7);")
    assert (ended.returncode, ended.stderr) == (0, f"created database {folder}\n")
    assert json.loads(printed(folder, "--format", "json", "-c", "SELECT * FROM t")) == [{"x": 7}]
    printed("-c", "CREATE TABLE t (x INT)")
    assert "not found" in tessera("-c", "SELECT * FROM t").stderr


def test_a_pipe_is_read_as_statements_whose_last_semicolon_may_be_missing():
    said = printed("--format=csv", given="SELECT 1 AS a;\n-- a comment\n\nSELECT 2\n  AS b; "
                                         "SELECT 3 AS c;\n.mode json\nSELECT 'x;y' AS d")
    assert said == 'a\r\n1\r\nb\r\n2\r\nc\r\n3\r\n[{"d":"x;y"}]\n'
    assert printed(given="") == "" and printed(given="-- nothing\n") == ""
    assert printed("-f", "-", "--format", "csv", given="SELECT 1 AS a") == "a\r\n1\r\n"


def test_a_statement_of_many_lines_is_read_in_one_go():
    rows = ",\n".join(f"({i}, 'text {i}')" for i in range(3000))
    said = printed("--format", "csv", given=f"CREATE TABLE t (x INT, y TEXT);\nINSERT INTO t VALUES\n"
                                            f"{rows}\n;\nSELECT COUNT(*) AS n FROM t;")
    assert said == "n\r\n3000\r\n"


VALUES = ("SELECT 1 AS i, 2.5 AS d, CAST(0.1 AS FLOAT) AS f, TRUE AS b, 'a \"b\", c' AS t, '' AS empty, "
          "NULL AS nothing, 'zwei\nZeilen' AS lines, [[1, 2.5], [3, 4]] AS m, 'ü…漢' AS wide")


def test_csv_reads_back():
    rows = list(csv.reader(io.StringIO(printed("--format", "csv", "-c", VALUES), newline="")))
    assert rows[0] == ["i", "d", "f", "b", "t", "empty", "nothing", "lines", "m", "wide"]
    assert rows[1][:4] == ["1", "2.5", "0.1", "true"]
    assert rows[1][4:8] == ['a "b", c', "", "", "zwei\nZeilen"]
    assert json.loads(rows[1][8]) == [[1, 2.5], [3, 4]] and rows[1][9] == "ü…漢"
    raw = printed("--format", "csv", "-c", "SELECT '' AS empty, NULL AS nothing")
    assert raw.splitlines()[1] == '"",'


def test_columns_of_the_same_name_have_keys_of_their_own():
    rows = json.loads(printed("--format", "json", "-c", "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS A, 5 AS a"),
                      object_pairs_hook=list)
    assert rows == [[("a", 1), ("a_3", 2), ("a_2", 3), ("A", 4), ("a_4", 5)]]


def test_json_reads_back():
    row, = json.loads(printed("--format", "json", "-c", VALUES))
    assert row == {"i": 1, "d": 2.5, "f": 0.1, "b": True, "t": 'a "b", c', "empty": "", "nothing": None,
                   "lines": "zwei\nZeilen", "m": [[1, 2.5], [3, 4]], "wide": "ü…漢"}
    assert json.loads(printed("--format", "json", "-c", "SELECT 1 AS x WHERE 1 = 2")) == []
    many = json.loads(printed("--format", "json", "-c", PEOPLE + "SELECT * FROM people"))
    assert [row["name"] for row in many] == ["ann", "bob", "cid"]


def test_numbers_read_back_as_what_they_were(tmp_path):
    numbers = np.array([0.1, 1 / 3, -1e300, 5e-324, 123456789.0, np.nan, np.inf, -np.inf])
    db = ts.connect(tmp_path / "lab.tsdb")
    db.store("v", ts.relation(numbers, tile=(8,)))
    row, = json.loads(printed(tmp_path / "lab.tsdb", "--format", "json", "-c", "SELECT tile FROM v"))
    assert row["tile"] == [*numbers[:5], None, None, None]
    big = 2**63 - 1
    row, = json.loads(printed("--format", "json", "-c", f"SELECT {big} AS x, 1e20 AS y, 5.0 AS z"))
    assert row == {"x": big, "y": 1e20, "z": 5.0} and isinstance(row["z"], float)
    text = printed("--format", "csv", "-c", "SELECT 1.0 / 3 AS x").split()[1]
    assert float(text) == 1 / 3 and not math.isnan(float(text))


def test_lines():
    said = printed("--format", "line", "-c", PEOPLE + "SELECT id, name FROM people WHERE id < 3")
    assert said.endswith("  id = 1\nname = ann\n\n  id = 2\nname = bob\n")
    assert printed("--format", "line", "-c", "SELECT [[1.5, 2], [3, 4]] AS m") == \
        "m = MATRIX[2][2]\n[[1.5 2. ]\n [3.  4. ]]\n"


def test_a_tensor_is_its_type_and_a_corner(tmp_path):
    db = ts.connect(tmp_path / "lab.tsdb")
    db.store("X", ts.relation(np.arange(600.0).reshape(20, 30), tile=(20, 30)))
    said = printed(tmp_path / "lab.tsdb", "-c", "SELECT tile FROM X")
    assert "MATRIX[20][30] [[0 1 2 3 …] [30 31 32 33 …] …]" in said
    assert "MATRIX[2][2] [[1 2.5] [3 4]]" in printed("-c", "SELECT [[1, 2.5], [3, 4]]")


def test_what_a_terminal_must_not_see_is_escaped():
    said = printed("-c", "SELECT 'a\x1b[31mb\tc' AS x")
    assert "a\\x1b[31mb\\tc" in said and "\x1b" not in said


def test_an_error_has_its_line_and_a_mark(tmp_path):
    ended = tessera("-c", "SELECT 1 +\n  nope AS x;")
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr == ('TypeError: column "nope" not found; available: none\n'
                            "line 2:   nope AS x;\n"
                            "          ^\n")
    script = tmp_path / "script.sql"
    script.write_text("SELECT 1 AS a;\n\n-- ä\nSELECT 'ü漢', 2 +;\nSELECT 3;")
    ended = tessera("--format", "csv", "-f", script)
    assert ended.returncode == 1 and ended.stdout == "a\r\n1\r\n"
    message, line, mark = ended.stderr.splitlines()
    assert message.startswith("ParseError: ")
    assert line == f"{script}:4: SELECT 'ü漢', 2 +;"
    # 漢 is two columns wide.
    assert mark == " " * (line.index("+;") + 1 + 1) + "^"


def test_of_a_long_line_only_what_is_around_the_place_is_shown():
    ended = tessera("-c", "SELECT " + "1 + " * 500 + "nope" + " + 1" * 500)
    message, line, mark = ended.stderr.splitlines()
    assert len(line) <= 120 and line[len(mark) - 1:].startswith("nope")
    assert "…" in line[:20] and line.endswith("…")


def test_after_an_error_nothing_is_run(tmp_path):
    for given in (["-c", "SELECT 1 AS a; SELECT nope; SELECT 2 AS b"],
                  ["-c", "SELECT 1 AS a", "-c", "SELECT nope", "-c", "SELECT 2 AS b"]):
        ended = tessera("--format", "csv", *given)
        assert (ended.returncode, ended.stdout) == (1, "a\r\n1\r\n")
    ended = tessera("--format", "csv", given="SELECT 1 AS a;\nSELECT nope;\nSELECT 2 AS b;")
    assert (ended.returncode, ended.stdout) == (1, "a\r\n1\r\n")
    ended = tessera("-f", tmp_path / "none.sql", "-c", "SELECT 1")
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr == f"IoError: cannot open {tmp_path / 'none.sql'}: No such file or directory\n"
    assert tessera("-f", tmp_path).returncode == 1


@pytest.mark.parametrize("arguments", [
    ["--format", "xml", "-c", "SELECT 1"], ["--memory-limit", "lots"], ["--memory-limit", "0"], ["--threads", "-1"],
    ["--sites", "0"], ["a", "b"], ["-c"], ["-f"], ["--bogus"]])
def test_wrong_usage(arguments, tmp_path):
    ended = tessera(*arguments, cwd=tmp_path)
    assert ended.returncode == 2 and ended.stdout == "" and "--help" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_limit_of_nothing_says_what_to_write():
    for nothing in ("0", "0MB", "0.3"):
        ended = tessera("--memory-limit", nothing, "-c", "SELECT 1")
        assert ended.returncode == 2
        assert f"'{nothing}' is not a valid memory limit: it must be greater than 0, such as 512MB or 2GiB" in ended.stderr


def test_settings_of_the_command_line(tmp_path):
    said = printed("--memory-limit", "64MB", "--threads", "1", "--sites", "4", "--format", "json",
                   "-c", "SHOW SETTINGS")
    settings = {row["name"]: row["value"] for row in json.loads(said)}
    assert settings["memory_limit"] == "64.0 MB"
    assert (settings["threads"], settings["sites"]) == ("1", "4")


def test_a_database_that_is_called_like_a_subcommand(tmp_path):
    ended = tessera("./check", "--format", "csv", "-c", "SELECT 1 AS a", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "a\r\n1\r\n")
    assert printed("check", "./check", cwd=tmp_path) == "./check: no errors found\n"


def test_an_output_that_nobody_reads_ends_quietly():
    program = subprocess.Popen([str(PROGRAM), "--format", "csv"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    program.stdout.close()
    with program:
        try:
            program.stdin.write("SELECT 1 AS a;\n" * 20)
            program.stdin.close()
        except BrokenPipeError:
            pass
        said = program.stderr.read()
        assert program.wait(timeout=120) == -13 and said == ""  # SIGPIPE, as of other programs


def test_an_output_that_takes_nothing_is_an_error():
    with open("/dev/full", "w") as full:
        ended = subprocess.run([str(PROGRAM), "-c", "SELECT 1"], stdout=full, text=True, timeout=120,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert ended.returncode == 1 and "standard output" in ended.stderr


def test_a_plan_in_a_format_of_its_own_is_one_document():
    product = "CREATE TENSOR C AS [[1, 2], [3, 4]] @ [[5], [6]]"
    dot = printed("-c", f"EXPLAIN (FORMAT DOT) {product}")
    assert dot.startswith("digraph plan {\n") and dot.endswith("}\n")
    for mode in ("table", "line", "csv"):
        assert printed("--format", mode, "-c", f"EXPLAIN (FORMAT DOT) {product}") == dot
        document = json.loads(printed("--format", mode, "-c", f"EXPLAIN (FORMAT JSON) {product}"))
        assert document["plans"][0]["plan"]
    assert json.loads(printed("--format", "json", "-c", f"EXPLAIN (FORMAT DOT) {product}")) == {"dot": dot}
    lines = printed("--format", "csv", "-c", f"EXPLAIN {product}")
    assert lines.startswith("plan\r\n")


def test_sites_are_as_many_as_plans_may_have():
    for arguments in (["--sites", "4097", "-c", "SELECT 1"], ["--sites", "0", "-c", "SELECT 1"]):
        ended = subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, timeout=120)
        assert ended.returncode == 2
        assert f"invalid number of sites {arguments[1]}; expected 1 to 4096" in ended.stderr


def test_a_plan_in_json_is_one_document():
    statement = "EXPLAIN (FORMAT JSON) CREATE TENSOR C AS [[1, 2], [3, 4]] @ [[5], [6]]"
    document = json.loads(printed("--format", "json", "-c", statement))
    assert document["plans"][0]["plan"]
    assert document["plans"][0]["plan"] == json.loads(printed("-c", statement))["plans"][0]["plan"]
    rows = json.loads(printed("--format", "json", "-c", statement.replace("(FORMAT JSON) ", "")))
    assert rows[0].keys() == {"plan"}
