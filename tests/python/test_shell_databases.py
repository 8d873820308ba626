"""Which databases `tessera` makes, opens for reading only, and waits for."""
import fcntl
import os
import subprocess
import time

import numpy as np
import pytest
import tessera as ts

from test_shell_statements import PROGRAM, printed, tessera

ROWS = "CREATE TABLE t (x INT); INSERT INTO t VALUES (7); CREATE TENSOR X AS [[1, 2], [3, 4]];"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "lab.tsdb"
    ts.connect(folder).session().sql(ROWS)
    return folder


def test_a_database_that_is_made_is_told_of(tmp_path):
    typo = tmp_path / "typo.tsdb"
    said = [tessera(typo, "-c", "SELECT 1 AS a", "--format", "csv") for _ in range(2)]
    assert [ended.stdout for ended in said] == ["a\r\n1\r\n"] * 2
    assert [ended.stderr for ended in said] == [f"created database {typo}\n", ""]
    other = tmp_path / "other.tsdb"
    ended = tessera(given=f".open {other}\n.open\n.open {other}\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", f"created database {other}\n")
    np.save(tmp_path / "x.npy", np.ones(3))
    imported = tmp_path / "imported.tsdb"
    ended = tessera("import", imported, "X", tmp_path / "x.npy")
    assert (ended.returncode, ended.stderr) == (0, f"created database {imported}\n")


def test_a_database_that_is_only_read(folder):
    assert printed(folder, "--read-only", "--format", "csv", "-c", "SELECT x FROM t; SHOW JOBS") == \
        "x\r\n7\r\njob,state,frames,bytes,statement\r\n"
    ended = tessera(folder, "--read-only", "-c", "INSERT INTO t VALUES (8)")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[0] == f'IoError: database "{folder}" is read-only'
    # What is opened later is read only too, but a temporary database is one's own.
    ended = tessera(folder, "--read-only", given=f".open\nCREATE TABLE u (x INT);\n.open {folder}\nDROP TABLE t;")
    assert ended.returncode == 1 and f'IoError: database "{folder}" is read-only' in ended.stderr


def test_a_database_that_is_opened_for_reading_only(folder, tmp_path):
    before = state_of(folder)
    for command in (f".open --read-only {folder}", f".open {folder} --read-only;", f".open --read-only '{folder}'"):
        ended = tessera("--format", "csv", given=f"{command}\nSELECT x FROM t;\nDROP TABLE t;\n")
        assert (ended.returncode, ended.stdout) == (1, "x\r\n7\r\n")
        assert ended.stderr.splitlines()[0] == f'IoError: database "{folder}" is read-only'
    assert state_of(folder) == before
    # It is said for one database, not for those that are opened later.
    printed(given=f".open --read-only {folder}\n.open {folder}\nDROP TABLE t;\n")
    for wrong, message in ((f".open --read-only {tmp_path / 'none'}", f'database "{tmp_path}/none" does not exist'),
                           (".open --read-only", "--read-only requires the name of a database"),
                           (f".open --readonly {folder}", 'unknown option --readonly; did you mean "--read-only"?'),
                           (f".open --nothing {folder}", "unknown option --nothing; available: --read-only"),
                           (".open a b", 'unexpected argument "b": .open takes one database')):
        ended = tessera(given=wrong)
        assert ended.returncode == 1 and message in ended.stderr, ended.stderr
    assert not (tmp_path / "none").exists()


def test_frames_of_a_database_that_is_only_read(folder):
    printed(folder, "-c", "CREATE TABLE v[0] AS SELECT x FROM t; CREATE TABLE v[i:1...] AS SELECT x + 1 AS x FROM v[i-1]")
    before = state_of(folder)
    assert printed(folder, "--read-only", "--format", "csv", "-c", "SET frame_size = 4; SELECT x FROM v[40]") == \
        "x\r\n47\r\n"
    assert state_of(folder) == before


def test_nothing_is_made_by_who_only_reads(tmp_path):
    ended = tessera(tmp_path / "none", "--read-only", "-c", "SELECT 1")
    assert ended.returncode == 1 and f'database "{tmp_path}/none" does not exist' in ended.stderr
    assert not (tmp_path / "none").exists()
    ended = tessera("--read-only", "-c", "SELECT 1")
    assert ended.returncode == 2 and "DATABASE" in ended.stderr


def state_of(folder):
    return {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else sorted(os.listdir(path)))
            for path in [folder, *folder.rglob("*")]}


def test_who_only_reads_writes_nothing(folder):
    before = state_of(folder)
    printed(folder, "--read-only", "-c", "SELECT x FROM t; SELECT tile FROM X; SHOW TABLES")
    tessera(folder, "--read-only", "-c", "VACUUM")
    assert state_of(folder) == before


@pytest.mark.parametrize("lock", [True, False])
def test_a_folder_that_may_not_be_written(folder, lock):
    if not lock:
        (folder / "lock").unlink()
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Root may write everywhere, but for one who has given that up.
    humble = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []

    def run(*arguments):
        return subprocess.run([*humble, PROGRAM, folder, *arguments], text=True, capture_output=True, timeout=60)

    ended = run("--read-only", "--format", "json", "-c", "SELECT x FROM t; SELECT tile FROM X; SHOW JOBS")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, '[{"x":7}]\n[{"tile":[[1,2],[3,4]]}]\n[]\n', "")
    ended = run("-c", "INSERT INTO t VALUES (8)")
    assert ended.returncode == 1 and "lock" in ended.stderr


def test_a_medium_that_cannot_be_written(folder):
    """A mount of its own, in a namespace of its own, where the system lets us make one."""
    (folder / "lock").unlink()
    script = ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && ! touch "$1/x" 2> /dev/null || exit 77; '
              'exec "$2" "$1" --read-only --format csv -c "SELECT x FROM t"')
    ended = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script, "-",
                            str(folder), str(PROGRAM)], capture_output=True, timeout=60)
    if ended.returncode == 77 or b"unshare" in ended.stderr:
        pytest.skip("no mounts can be made here")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"x\r\n7\r\n", b"")


@pytest.mark.parametrize("arguments", [
    ["--lock-seconds", "0.05", "-c", "INSERT INTO t VALUES (8)"],
    ["-c", "SET lock_seconds = 0.05; INSERT INTO t VALUES (8)"]])
def test_how_long_a_second_writer_waits_can_be_said(folder, arguments):
    with open(folder / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin = time.monotonic()
        ended = tessera(folder, *arguments)
        assert time.monotonic() - begin < 9  # and not 10, which is what it is otherwise
    assert ended.returncode == 1 and "has not finished after 0.05 s" in ended.stderr
    assert printed(folder, "--format", "csv", "-c", "SELECT COUNT(*) AS n FROM t") == "n\r\n1\r\n"


def test_how_long_to_wait_stays_for_the_next_database(folder, tmp_path):
    said = printed("--format", "csv", "--lock-seconds", "3", given=f".open {folder}\nSHOW SETTINGS;\n"
                   f"SET lock_seconds = 4;\n.open\nSHOW SETTINGS;\nRESET lock_seconds;\nSHOW SETTINGS;")
    assert [line.split(",")[1] for line in said.splitlines() if line.startswith("lock_seconds")] == ["3", "4", "10"]
    assert tessera("--lock-seconds", "-1", "-c", "SELECT 1").returncode == 2


COPY = "SELECT 1 AS a; COPY t TO '/dev/stdout'; SELECT 2 AS b"


@pytest.mark.parametrize("to_file", [True, False])
def test_what_is_copied_to_the_output_stands_there_alone(folder, tmp_path, to_file):
    if to_file:
        with open(tmp_path / "out", "wb") as out:
            subprocess.run([PROGRAM, folder, "--format", "line", "-c", COPY], stdout=out, check=True, timeout=60)
        said = (tmp_path / "out").read_text()
    else:
        said = printed(folder, "--format", "line", "-c", COPY)
    assert said == "a = 1\nx\n7\nb = 2\n"
    assert printed(folder, "-c", "COPY X TO '/dev/stdout'") == "1,2\n3,4\n"
    assert tessera("export", folder, "X", "/dev/stdout").stdout == "1,2\n3,4\n"
    assert printed(folder, "-c", "COPY (SELECT x + 1 AS y FROM t) TO '/dev/fd/1'") == "y\n8\n"
    assert printed(folder, "-c", f"COPY t TO '{tmp_path / 'rows.csv'}'") == "wrote 1 row\n"

