"""`tessera` under mpirun: all processes run the statements, and the first one prints."""
import re

from test_cluster import pytestmark, run  # noqa: F401: the mark skips where there is no MPI
from test_shell_statements import PROGRAM

TILES = ("CREATE TABLE t (x INT, m MATRIX[2][2]); "
         "INSERT INTO t VALUES (1, [[1, 2], [3, 4]]), (2, [[1, 2], [3, 4]]);")


def test_rows_are_printed_once(tmp_path):
    file = tmp_path / "rows.csv"
    ended = run(3, PROGRAM, tmp_path / "lab.tsdb", "--format", "csv", "-c", TILES,
                "-c", "SELECT SUM(matmul(a.m, b.m)) AS s FROM t AS a, t AS b",
                "-c", f".output {file}\nSELECT COUNT(*) AS n FROM t;\n.output")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == 's\n"[[28.0,40.0],[60.0,88.0]]"\n'
    assert file.read_bytes() == b"n\r\n2\r\n"


def test_an_error_ends_all():
    ended = run(2, PROGRAM, "-c", "SELECT nope", "-c", "SELECT 'not reached'")
    assert ended.returncode == 1 and "not reached" not in ended.stdout
    assert re.search('^TypeError: column "nope" not found', ended.stderr, re.M)


def test_the_standard_input_is_not_shared():
    ended = run(2, PROGRAM)
    assert ended.returncode == 1 and "give statements with -c or -f" in ended.stderr
