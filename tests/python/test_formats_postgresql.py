"""PostgreSQL: a server of the test's own, in a temporary folder, on a unix socket alone."""
import functools
import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import tessera as ts

SECONDS = 60


def binaries():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


@functools.cache
def another_user():
    """Servers refuse to run as root: then they run as somebody else, who must be able to run anything at
    all. Where only root may enter the root folder, that takes a capability."""
    user = next(name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()})
    become = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
    if subprocess.run([*become, "true"], capture_output=True, timeout=SECONDS).returncode != 0:
        become += ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_read_search",
                   "--ambient-caps=+dac_read_search"]
    return user, become


def as_user(command):
    return [*another_user()[1], *command] if os.getuid() == 0 else command


def run(command, **options):
    done = subprocess.run(as_user(command), capture_output=True, text=True, timeout=SECONDS, cwd="/", **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Server:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tessera-pg-", dir="/tmp")  # sockets want short paths
        self.process = None
        if os.getuid() == 0:
            shutil.chown(self.folder, another_user()[0])
        self.data = os.path.join(self.folder, "data")
        self.where = f"host={self.folder} dbname=postgres user=tester"

    def start(self):
        run([f"{binaries()}/initdb", "-D", self.data, "-U", "tester", "-A", "trust", "--no-sync"])
        self.process = subprocess.Popen(
            as_user([f"{binaries()}/postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
                     "-c", "fsync=off"]),
            cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + SECONDS
        while subprocess.run([f"{binaries()}/pg_isready", "-h", self.folder, "-d", "postgres"],
                             capture_output=True, timeout=SECONDS).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < end, "the server does not start"
            time.sleep(0.05)

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, text):
        return subprocess.run([f"{binaries()}/psql", "-h", self.folder, "-U", "tester", "-d", "postgres", "-qAtX",
                               "-v", "ON_ERROR_STOP=1", "-c", text],
                              check=True, capture_output=True, text=True, timeout=SECONDS).stdout


@pytest.fixture(scope="module")
def server():
    if binaries() is None:
        sys.stderr.write("\n*** PostgreSQL IS NOT INSTALLED: its tests do not run. See scripts/deps. ***\n")
        pytest.skip("PostgreSQL is not installed; scripts/deps installs it")
    started = Server()
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def value(db, name):
    return db.read(name).numpy()


def imported(db, server, query, name="x", **options):
    if name in db.list():
        db.drop(name)
    db.import_file(name, server.where, format="postgresql", query=query, **options)
    return value(db, name)


@pytest.mark.parametrize("kind, dtype", [
    ("smallint", np.int64), ("int", np.int64), ("bigint", np.int64), ("real", np.float32),
    ("double precision", np.float64), ("numeric", np.float64), ("boolean", np.bool_)])
def test_entries_of_every_type(db, server, kind, dtype):
    found = imported(db, server, f"SELECT i::smallint, j, ((i + j) % 2)::int::{kind} AS v "
                                 "FROM generate_series(0, 8) i, generate_series(0, 4) j -- all of them\n;")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, (np.add.outer(np.arange(9), np.arange(5)) % 2).astype(dtype))


def test_many_entries_in_little_memory(db, server):
    query = "SELECT (k * 7919) % 1009 AS i, (k * 104729) % 997 AS j, k + 0.25 AS v FROM generate_series(1::bigint, 200000) k"
    k = np.arange(1, 200001)
    expected = np.zeros((1009, 997))
    expected[k * 7919 % 1009, k * 104729 % 997] = k + 0.25
    for memory in (1 << 26, 1 << 16):
        np.testing.assert_array_equal(imported(db, server, query, memory=memory, tile=(100, 300)), expected)
    assert db.info("x")["shape"] == (1009, 997)
    np.testing.assert_array_equal(imported(db, server, query), expected)


def test_options(db, server):
    query = "VALUES (1, 1, 2.5), (2, 3, NULL)"
    np.testing.assert_array_equal(
        imported(db, server, query, missing=-1, index_base=1, shape=(3, 4), dtype="f32"),
        np.array([[2.5, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 0]], np.float32))
    assert imported(db, server, "SELECT i, i AS v FROM generate_series(0, 9) i WHERE false", shape=(4,)).shape == (4,)
    assert imported(db, server, "WITH t AS (SELECT 2 AS a) SELECT a, a, a, a FROM t")[2, 2, 2] == 2


def test_a_tile_a_row(db, server):
    server.sql("CREATE TABLE tiles (i int, j int, t real[])")
    server.sql("INSERT INTO tiles SELECT i, j, ARRAY[[i, j, 1], [2, 3, i * j]] FROM generate_series(0, 2) i, generate_series(0, 3) j")
    db.import_file("t", server.where, format="postgresql", query="SELECT * FROM tiles", tile_a_row=True)
    found = db.read("t")
    assert "f32[2x3]" in db.info("t")["type"] and db.info("t")["shape"] is None
    np.testing.assert_array_equal(found[2, 3].numpy(), np.array([[2, 3, 1], [2, 3, 6]], np.float32))
    for kind, dtype in (("bigint", np.int64), ("smallint", np.int64), ("float8", np.float64),
                        ("numeric", np.float64)):
        db.import_file(kind, server.where, format="postgresql", tile_a_row=True,
                       query=f"SELECT 0, ARRAY[1, 2, 3]::{kind}[]")
        np.testing.assert_array_equal(value(db, kind), np.array([1, 2, 3], dtype))
        assert value(db, kind).dtype == dtype
    db.export_file("t", server.where, format="postgresql", member="back", tile_a_row=True)
    db.import_file("holes", server.where, format="postgresql", tile_a_row=True,
                   query="SELECT * FROM tiles WHERE i <> j")
    assert len(db.read("holes")) == 9
    assert server.sql("SELECT count(*) FROM back JOIN tiles ON k0 = i AND k1 = j AND tile = t").strip() == "12"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_export_and_back(db, server, dtype):
    array = (np.random.default_rng(1).normal(size=(23, 11, 3)) * 50).astype(dtype)
    db.store("a", ts.relation(array, (10, 4, 2)))
    name = f"t_{np.dtype(dtype).name}"
    report = db.export_file("a", server.where, format="postgresql", member=name)
    assert report["rows"] == array.size
    assert server.sql(f"SELECT count(*), max(i0), max(i1), max(i2) FROM {name}").strip() == f"{array.size}|22|10|2"
    found = imported(db, server, f"SELECT * FROM {name}")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, array)


def test_export_of_a_sparse_matrix_and_names(db, server, tmp_path):
    (tmp_path / "s.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1000 1000 2\n1000 1 2.5\n3 4 1\n")
    db.import_file("s", tmp_path / "s.mtx")
    server.sql('CREATE SCHEMA "My Schema"')
    db.export_file("s", server.where, format="postgresql", member='My Schema.a "table"', index_base=1)
    assert server.sql('SELECT * FROM "My Schema"."a ""table""" ORDER BY i0') == "3|4|1\n1000|1|2.5\n"
    with pytest.raises(ts.IoError, match="already exists"):
        db.export_file("s", server.where, format="postgresql", member='My Schema.a "table"')
    with pytest.raises(ts.TypeError, match="member="):
        db.export_file("s", server.where, format="postgresql")


def test_the_address_tells_the_format(db, server):
    address = f"postgresql://tester@/postgres?host={server.folder}"
    db.import_file("x", address, query="SELECT 1, 2.5")
    np.testing.assert_array_equal(value(db, "x"), [0, 2.5])
    db.export_file("x", address, member="by_address")
    assert server.sql("SELECT * FROM by_address") == "1|2.5\n"


WRONG = {
    "no_query": ("", {}, ts.TypeError, "query="),
    "not_sql": ("SELEC 1", {}, ts.IoError, "syntax error"),
    "no_table": ("SELECT * FROM nowhere", {}, ts.IoError, "nowhere"),
    "two_statements": ("SELECT 1, 2; DROP TABLE tiles", {}, ts.IoError, "multiple commands"),
    "it_writes": ("DELETE FROM pg_class RETURNING 1, 2", {}, ts.IoError, "cannot run the query"),
    "one_column": ("SELECT 1", {}, ts.IoError, "1 columns"),
    "ten_columns": ("SELECT 1,1,1,1,1,1,1,1,1,1", {}, ts.IoError, "10 columns"),
    "real_coordinate": ("SELECT 1.5 AS where, 2", {}, ts.IoError, "\"where\" of the query must be an integer"),
    "text_value": ("SELECT 1, 'x' AS word", {}, ts.IoError, "\"word\", must have numbers"),
    "null_coordinate": ("VALUES (1, 1), (NULL, 2)", {}, ts.IoError, "row 2 of the query: \"column1\" is NULL"),
    "null_value": ("VALUES (1, 1), (2, NULL)", {}, ts.IoError, "row 2 of the query: \"column2\" is NULL; .*missing="),
    "negative": ("VALUES (0, 1), (-4, 1)", {}, ts.IoError, "row 2 of the query: \"column1\" is -4"),
    "twice": ("VALUES (3, 1), (3, 2)", {}, ts.IoError, "duplicate value at index <3>"),
    "outside": ("VALUES (3, 1)", {"shape": (3,)}, ts.IoError, "out of range for shape"),
    "wrong_rank": ("VALUES (3, 1)", {"shape": (3, 3)}, ts.TypeError, "does not fit shape"),
    "reals_as_integers": ("VALUES (3, 1.5)", {"dtype": "i64"}, ts.TypeError, "do not fit into i64"),
    "fails_late": ("SELECT i, 1 / (5000 - i) FROM generate_series(0, 9999) i", {}, ts.IoError, "division by zero"),
    "array_as_entry": ("SELECT 1, ARRAY[1]", {}, ts.IoError, "must have numbers"),
    "entry_as_array": ("SELECT 1, 1", {"tile_a_row": True}, ts.IoError, "must have arrays"),
    "null_array": ("SELECT 1, NULL::int[]", {"tile_a_row": True}, ts.IoError, "is NULL"),
    "null_in_array": ("SELECT 1, ARRAY[1, NULL]", {"tile_a_row": True}, ts.IoError, "is NULL; give a value"),
    "ranks_differ": ("VALUES (0, ARRAY[1]), (1, ARRAY[[1]])", {"tile_a_row": True}, ts.IoError, "but the first row has 1"),
    "key_twice": ("VALUES (0, ARRAY[1]), (0, ARRAY[2])", {"tile_a_row": True}, ts.IoError, "duplicate key <0>"),
    "no_tiles": ("SELECT 0, ARRAY[1] WHERE false", {"tile_a_row": True}, ts.IoError, "no rows"),
    "an_option_of_others": ("VALUES (3, 1)", {"delimiter": ","}, ts.TypeError, "delimiter"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_and_stores_nothing(db, server, name):
    query, options, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        db.import_file("x", server.where, format="postgresql", query=query, **options)
    assert db.list() == []


def test_no_server_and_secrets(db, tmp_path):
    with pytest.raises(ts.IoError, match="cannot connect to PostgreSQL") as error:
        db.import_file("x", f"host={tmp_path} dbname=x password=geheim", format="postgresql", query="SELECT 1, 2")
    assert "geheim" not in str(error.value)


def test_a_query_that_takes_long_can_be_interrupted(db, server):
    class Enough(Exception):
        pass

    def stop(progress):
        raise Enough()

    with pytest.raises(Enough):
        db.import_file("x", server.where, format="postgresql", query="SELECT 1, 2 FROM pg_sleep(600)",
                       progress=stop, progress_seconds=0.05)
    assert db.list() == []
    end = time.monotonic() + SECONDS
    while "0" != server.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' "
                            "AND pid <> pg_backend_pid()").strip():
        assert time.monotonic() < end, "the server still works for nobody"
        time.sleep(0.1)
