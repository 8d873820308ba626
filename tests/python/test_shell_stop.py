"""At a terminal: statements that take long say how far they are, and Ctrl-C stops them wherever they are."""
import re

import numpy as np
import pytest
import tessera as ts

from terminal import Terminal
from test_shell_statements import PROGRAM


@pytest.fixture
def shell(tmp_path):
    started = []

    def start(*arguments):
        environment = {"TESSERA_HISTORY": str(tmp_path / "history")}
        started.append(Terminal([PROGRAM, *arguments], 120, environment=environment))
        started[-1].expect("tessera> ")
        return started[-1]

    yield start
    for terminal in started:
        terminal.__exit__()


def test_rows_that_are_joined_and_sorted(shell, tmp_path):
    ts.connect(tmp_path / "lab.tsdb").sql("CREATE TABLE t (x INT)")
    ts.connect(tmp_path / "lab.tsdb").session().insert("t", [(i,) for i in range(3000)])
    terminal = shell(tmp_path / "lab.tsdb")
    terminal.type("SELECT a.x FROM t AS a, t AS b WHERE a.x < b.x ORDER BY b.x;\r")
    terminal.expect("running for ")
    terminal.type("\x03")
    assert re.search("Interrupted: stopped while processing rows", terminal.expect("\ntessera> "))
    assert " 3000\n" in terminal.run("SELECT COUNT(*) FROM t;")


def test_rows_that_are_copied(shell, tmp_path):
    with open(tmp_path / "rows.csv", "w") as file:
        file.writelines(f"{i},{i * 0.5},text {i % 9}\n" for i in range(3_000_000))
    terminal = shell(tmp_path / "lab.tsdb")
    terminal.run("CREATE TABLE t (i INT, x DOUBLE, s TEXT);")
    terminal.type(f"COPY t FROM '{tmp_path}/rows.csv';\r")
    assert re.search(r"\[#* *\] +\d+%  \d+ s left", terminal.expect(" left"))
    terminal.type("\x03")
    assert re.search(r"Interrupted: stopped after \d+ rows; no changes were saved", terminal.expect("\ntessera> "))
    assert " 0\n" in terminal.run("SELECT COUNT(*) FROM t;")
    (tmp_path / "rows.csv").unlink()


def test_frames_are_counted_and_stay(shell, tmp_path):
    db = ts.connect(tmp_path / "lab.tsdb")
    m = np.random.default_rng(1).normal(size=(400, 400)) / 20
    db.sql("CREATE TABLE M (k INT, m MATRIX[400][400])")
    db.sql("INSERT INTO M VALUES (0, ?)", [m])
    db.sql("CREATE TABLE X[0] AS SELECT * FROM M; "
           "CREATE TABLE X[i:1...] AS SELECT a.k, matmul(a.m, b.m) AS m FROM X[i-1] AS a, M AS b WHERE a.k = b.k")
    terminal = shell(db.folder, "--threads", "1")
    terminal.run("SET frame_size = 10;")
    terminal.type("SELECT sum_elements(m) FROM X[2000];\r")
    said = terminal.expect(" of 2")
    assert re.search(r"\[#* *\] +\d+%.*  frame \d+ of 2", said)
    terminal.type("\x03")
    assert "Interrupted: " in terminal.expect("\ntessera> ")
    job = re.search(r" (j[0-9a-f]{16}) │ stopped │ (\d+) of 2\d+ +│ .* │ SELECT sum_elements", terminal.run("SHOW JOBS;"))
    assert job and int(job[2]) > 0
    assert f"dropped job {job[1]}" in terminal.run(f"DROP JOB {job[1]};")
    assert "(0 rows)" in terminal.run("SHOW JOBS;")
    assert [name for name in db.list() if name.startswith("~")] == []
