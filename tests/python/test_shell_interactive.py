"""The prompt of `tessera` at a pseudo-terminal."""
import os
import re
import stat
import subprocess

import numpy as np
import pytest
import tessera as ts

from terminal import Terminal
from test_shell_statements import PROGRAM

SLOW = "SELECT SUM(matmul(a.tile, b.tile)) FROM X AS a, X AS b;"


@pytest.fixture
def history(tmp_path):
    return tmp_path / "history"


@pytest.fixture
def shell(history):
    started = []

    def start(*arguments, columns=80, **options):
        environment = {"TESSERA_HISTORY": str(history), **options.pop("environment", {})}
        terminal = Terminal([PROGRAM, *arguments], columns, environment=environment, **options)
        started.append(terminal)
        terminal.expect("tessera> ")
        return terminal

    yield start
    for terminal in started:
        terminal.__exit__()


def database_with(folder, tiles):
    """One in which SLOW takes long, and can be stopped at any time."""
    rows = np.random.default_rng(1).normal(size=(tiles * 200, 200))
    ts.connect(folder).store("X", ts.relation(rows, tile=(200, 200)))
    return folder


@pytest.fixture
def slow_database(tmp_path):
    return database_with(tmp_path / "slow.tsdb", 200)


def test_a_session(shell):
    terminal = shell()
    assert "created table people" in terminal.run("CREATE TABLE people (id INT, name TEXT);")
    assert "inserted 2 rows" in terminal.run("INSERT INTO people VALUES (1, 'ann'), (2, 'bob');")
    assert " id │ name\n────┼──────\n  1 │ ann\n  2 │ bob\n(2 rows)\n" in \
        terminal.run("SELECT * FROM people ORDER BY id;")
    terminal.type("\x04")
    status, said = terminal.ends()
    assert status == 0 and ".help" in said


def test_a_statement_of_several_lines(shell):
    terminal = shell()
    terminal.run("SELECT 1 +", prompt="    ...> ")
    terminal.run("", prompt="    ...> ")
    assert " 3\n" in terminal.run("2 AS x;")
    assert terminal.run("-- a comment says nothing").count("...>") == 0
    assert terminal.run("").count("...>") == 0


def test_an_error_ends_nothing(shell):
    terminal = shell()
    said = terminal.run("SELECT nope;")
    assert 'TypeError: column "nope" not found' in said
    assert "\nline 1: SELECT nope;\n               ^\n" in said
    assert 'did you mean ".tables"?' in terminal.run(".tabels")
    assert " 5\n" in terminal.run("SELECT 5;")
    terminal.type(".quit\r")
    assert terminal.ends()[0] == 0


def test_words_that_ask_for_help_or_leave_need_no_dot(shell):
    terminal = shell()
    assert ".tables " in terminal.run("help")
    terminal.type("SELECT 1 AS\r")
    terminal.expect("...> ")
    assert "exit" in terminal.run("exit;").split("\n", 1)[1]  # here it is a name
    terminal.type("Quit;\r")
    assert terminal.ends()[0] == 0


def test_tab_completes_words(shell):
    terminal = shell()
    terminal.run("CREATE TABLE people (id INT, nickname TEXT);")
    terminal.type("SEL\tnickn\tFROM peo\tWHER\tpeople.i\t= 1;\r")
    said = terminal.expect("rows)")
    assert " nickname\n" in said and "(0 rows)" in said
    terminal.expect("tessera> ")
    terminal.type(".t\t")
    terminal.expect(".tables  .timer\n")
    terminal.type("a\t\r")
    assert "people" in terminal.expect("(1 row)")
    terminal.expect("tessera> ")
    # On the second line of a statement what stands before it counts.
    terminal.run("SELECT COUNT(*) FROM", prompt="    ...> ")
    terminal.type("peo\t;\r")
    terminal.expect("(1 row)")


def test_ctrl_c_at_the_prompt_forgets_what_is_typed(shell):
    terminal = shell()
    terminal.type("SELECT 'never")
    terminal.type("\x03")
    terminal.expect("\ntessera> ")
    terminal.run("SELECT 'never", prompt="    ...> ")
    terminal.type("either\x03")
    terminal.expect("\ntessera> ")
    assert " 6\n" in terminal.run("SELECT 6;")
    assert terminal.program.poll() is None


def test_ctrl_c_stops_what_runs_and_the_session_goes_on(shell, slow_database):
    terminal = shell(slow_database)
    terminal.run("SET threads = 1;")
    terminal.type(SLOW + "\r")
    terminal.expect("% ")  # the progress of a run
    terminal.type("\x03")
    said = terminal.expect("tessera> ")
    assert "Interrupted: " in said and "line 1" not in said
    assert re.search("threads +│ 1 ", terminal.run("SHOW SETTINGS;"))
    # A file that is read ends there too.
    terminal.type(".read nowhere.sql\r")
    assert 'cannot open nowhere.sql: No such file' in terminal.expect("\ntessera> ")
    terminal.type("\x04")
    assert terminal.ends()[0] == 0


def test_ctrl_c_ends_a_script(slow_database):
    with Terminal([PROGRAM, slow_database, "-c", SLOW, "-c", "SELECT 'not reached'"]) as terminal:
        terminal.expect("left")
        terminal.type("\x03")
        status, said = terminal.ends()
        assert status == 1 and "Interrupted" in said and "not reached" not in said


def test_progress_is_shown_and_wiped(tmp_path):
    database = database_with(tmp_path / "lab.tsdb", 100)  # seconds, on any machine
    with Terminal([PROGRAM, database, "--threads", "1", "-c", SLOW]) as terminal:
        status, said = terminal.ends()
    assert status == 0
    assert re.search(r"\r\x1b\[K\[#* *\] +\d+%  .* left  [\d.]+ [kM]B", said)
    # The last of it is gone before the rows come.
    before, after = said.split("MATRIX[200][200]")
    assert before[:before.index("SUM")].rstrip(" \x1b[1m").endswith("\r\x1b[K") and "%" not in after


def test_progress_is_for_terminals_alone(tmp_path):
    database = database_with(tmp_path / "lab.tsdb", 100)
    with Terminal([PROGRAM, database, "--threads", "1", "-c", SLOW],
                  stderr=subprocess.PIPE) as terminal:
        status, said = terminal.ends()
        assert status == 0 and "%" not in said and terminal.program.stderr.read() == b""


def test_history_stays(shell, history):
    terminal = shell()
    terminal.run("SELECT 'the first' AS a;")
    terminal.run("SELECT", prompt="    ...> ")
    terminal.run("'the second' AS b;")
    terminal.program.kill()  # even so
    terminal.ends()
    assert stat.S_IMODE(os.stat(history).st_mode) == 0o600
    terminal = shell()
    terminal.type("\x1b[A\r")
    assert "the second\n(1 row)" in terminal.expect("\ntessera> ")
    terminal.type("\x10\x10\r")  # Ctrl-P
    assert "the first\n(1 row)" in terminal.expect("\ntessera> ")
    terminal.type("\x04")
    terminal.ends()
    entries = history.read_text().splitlines()[1:]
    assert len(entries) == 4 and "first" in entries[0] and "second" in entries[1]


def test_a_history_that_cannot_be_kept_is_told(shell, tmp_path):
    terminal = shell(environment={"TESSERA_HISTORY": str(tmp_path / "none" / "history")})
    assert "cannot write the history" in terminal.run("SELECT 1;")
    assert "history" not in terminal.run("SELECT 2;")


def test_history_is_kept_at_home(tmp_path):
    environment = {"HOME": str(tmp_path)}
    environment.update({"TESSERA_HISTORY": ""})
    with Terminal(["env", "-u", "TESSERA_HISTORY", PROGRAM], environment=environment) as terminal:
        terminal.expect("tessera> ")
        terminal.run("SELECT 1;")
    assert "SELECT" in (tmp_path / ".tessera_history").read_text()


@pytest.mark.parametrize("columns", [30, 50, 100])
def test_tables_fit_the_terminal(shell, columns):
    terminal = shell(columns=200)
    text = "x" * 70
    terminal.run(f"CREATE TABLE t AS SELECT 123456 AS number, '{text}' AS a, 'ü漢{text}' AS b, "
                 "[[1.5, 2], [3, 4]] AS m;")
    terminal.resize(columns)
    said = terminal.run(".mode table")
    said = terminal.run("SELECT * FROM t;")
    drawn = [line for line in said.splitlines() if "│" in line or "┼" in line]
    assert len(drawn) == 3
    # 漢 is two columns wide.
    assert all(len(line) + line.count("漢") <= columns for line in drawn)
    assert "123456" in said and "…" in said
    terminal.resize(300)
    assert text in terminal.run("SELECT * FROM t;")


def test_many_rows_are_cut(shell):
    terminal = shell()
    terminal.run("CREATE TABLE t (x INT);")
    values = ", ".join(f"({1000 + i})" for i in range(60))
    terminal.run(f"INSERT INTO t VALUES {values};")
    said = terminal.run("SELECT x FROM t ORDER BY x;")
    assert " 1049\n(60 rows, 50 shown: .maxrows)\n" in said and "1050" not in said
    terminal.run(".maxrows 0")
    assert " 1059\n(60 rows)\n" in terminal.run("SELECT x FROM t ORDER BY x;")


@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False),
                                                   ({"TERM": "dumb"}, False)])
def test_colours(environment, coloured):
    with Terminal([PROGRAM, "-c", "SELECT 1 AS a; SELECT nope"],
                  environment={"NO_COLOR": "", **environment}) as terminal:
        status, said = terminal.ends()
    assert status == 1 and ("\x1b[1ma" in said) == coloured
    assert ("\x1b[1;31mTypeError" in said) == coloured


def test_an_output_that_is_no_terminal_gets_rows_alone(tmp_path):
    with open(tmp_path / "rows", "w") as rows:
        with Terminal([PROGRAM, "--format", "csv"], stdout=rows,
                      environment={"TESSERA_HISTORY": ""}) as terminal:
            terminal.expect("tessera> ")
            terminal.type("SELECT 1 AS a;\r")
            terminal.expect("\ntessera> ")
            terminal.type("\x04")
            assert terminal.ends()[0] == 0
    assert (tmp_path / "rows").read_bytes() == b"a\r\n1\r\n"


def test_tab_completes_names_of_files(shell, tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "first.sql").write_text("SELECT 'from a file' AS a;\n")
    terminal = shell(cwd=tmp_path)
    terminal.type(".read que\tfi\t\r")
    assert "from a file\n(1 row)" in terminal.expect("\ntessera> ")
    # In quotes, which are closed when the name is complete.
    (tmp_path / "some rows.csv").write_text("x\n41\n")
    terminal.run("CREATE TABLE t (x INT);")
    terminal.type("COPY t FROM 'so\t;\r")
    assert "FROM 'some rows.csv';" in terminal.expect("\ntessera> ").replace("\r", "")
    assert " 41\n" in terminal.run("SELECT x FROM t;")
    terminal.type(".read 'que\tfi\t\r")
    assert "from a file\n(1 row)" in terminal.expect("\ntessera> ")


def test_ctrl_c_stops_rows_that_are_written(shell):
    terminal = shell()
    terminal.run("CREATE TABLE t (x INT);")
    terminal.run("INSERT INTO t VALUES " + ", ".join(f"({i})" for i in range(300)) + ";")
    terminal.run(".mode csv")
    terminal.type("SELECT a.x, b.x AS y FROM t AS a, t AS b;\r")
    terminal.expect("x,y\n")
    terminal.type("\x03")
    said = terminal.expect("\ntessera> ")
    assert "Interrupted: stopped before all rows were written" in said and "299,299" not in said
