"""SQL from Python: sessions, results, values for each ?, errors, and statements that are stopped."""
import datetime
import decimal
import fractions
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse
import tessera as ts


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


@pytest.fixture
def people(db):
    db.sql("CREATE TABLE people (id INT, name TEXT, height DOUBLE, here BOOLEAN)")
    assert db.session().insert("people", [(2, "bob", 1.8, True), (1, "ann", 1.6, False), (3, "cy'\";--", 2.0, True)]) == 3
    return db


def test_a_result_has_columns_rows_and_types(people):
    result = people.sql("SELECT id, name, height, here, NULL AS none FROM people ORDER BY id")
    assert result.columns == ["id", "name", "height", "here", "none"]
    assert result.types[:4] == ["INT", "TEXT", "DOUBLE", "BOOLEAN"]
    assert len(result) == 3 and result.command == "SELECT"
    rows = [(1, "ann", 1.6, False, None), (2, "bob", 1.8, True, None), (3, "cy'\";--", 2.0, True, None)]
    assert result.fetchall() == list(result) == rows
    assert [type(x) for x in result[0]] == [int, str, float, bool, type(None)]
    assert result[-1] == rows[2] and result[:2] == rows[:2] and result[::-2] == [rows[2], rows[0]]
    with pytest.raises(IndexError, match="row 3 is out of range; the result has 3"):
        result[3]


def test_columns_are_arrays(people):
    result = people.sql("SELECT *, CASE WHEN id > 1 THEN id END AS some, CAST(height AS FLOAT) AS f FROM people ORDER BY id")
    assert np.array_equal(result.column("id"), [1, 2, 3]) and result.column("id").dtype == np.int64
    assert np.array_equal(result.column("height"), [1.6, 1.8, 2.0]) and result.column(2).dtype == np.float64
    assert result.column("here").dtype == bool and result.column("f").dtype == np.float32
    assert list(result.column("name")) == ["ann", "bob", "cy'\";--"]
    assert list(result.column("some")) == [None, 2, 3]
    assert np.array_equal(people.sql("SELECT id FROM people WHERE id > 9").column("id"), np.zeros(0, np.int64))
    with pytest.raises(KeyError, match='column "nope" not found; did you mean "name"'):
        result.column("nope")
    with pytest.raises(IndexError):
        result.column(7)


def test_a_result_prints_as_in_the_shell(people, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert repr(people.sql("SELECT id, name FROM people WHERE id < 3 ORDER BY id")) == (
        " id │ name\n────┼──────\n  1 │ ann\n  2 │ bob\n(2 rows)")
    many = people.sql("SELECT a.id FROM people AS a, people AS b, people AS c")
    assert str(many).endswith("(27 rows, 20 shown)")
    assert str(people.sql("CREATE TABLE other (x INT)")) == "created table other"


def test_statements_without_rows_say_so(db):
    made = db.sql("CREATE TABLE t (x INT)")
    assert made.command == "CREATE TABLE" and made.message == "created table t"
    assert made.columns == [] and len(made) == 0 and made.fetchall() == []
    with pytest.raises(ts.TypeError, match="CREATE TABLE returned no rows, only a message: "):
        made.column("x")
    assert db.sql("").message == ""


def test_all_settings_go_back_to_their_defaults(db):
    session = db.session()
    before = list(session.sql("SHOW SETTINGS"))
    session.sql("SET frame_size = 7; SET sites = 3; SET lock_seconds = 2; SET memory_limit = '1 GB'")
    assert list(session.sql("SHOW SETTINGS")) != before
    assert session.sql("RESET ALL").message == "set all settings to their defaults"
    assert list(session.sql("SHOW SETTINGS")) == before


def test_a_session_keeps_its_settings(db):
    session = db.session(memory_limit="100MB", threads=1, sites=2, frame_size=7)
    settings = dict(row[:2] for row in session.sql("SHOW SETTINGS"))
    assert settings["memory_limit"] == "100 MB" and settings["threads"] == "1"
    assert settings["sites"] == "2" and settings["frame_size"] == "7"
    session.sql("SET sites = 3")
    assert dict(row[:2] for row in session.sql("SHOW SETTINGS"))["sites"] == "3"
    assert dict(row[:2] for row in db.sql("SHOW SETTINGS"))["sites"] == "1"
    with pytest.raises(ts.TypeError, match="memory_limit must be positive, not -1"):
        db.session(memory_limit=-1)


def test_all_results_of_a_text(db):
    results = db.session().execute("CREATE TABLE t (x INT); INSERT INTO t VALUES (?), (?); SELECT x FROM t ORDER BY x",
                                   [2, 1])
    assert [one.command for one in results] == ["CREATE TABLE", "INSERT", "SELECT"]
    assert results[2].fetchall() == [(1,), (2,)]
    inside = db.session().execute("EXECUTE ( FOR i IN 1...3: SELECT x + i AS y FROM t WHERE x = 1 )")
    assert [one.fetchall() for one in inside[:3]] == [[(2,)], [(3,)], [(4,)]]


def test_values_are_not_read_as_sql(people):
    find = "SELECT id FROM people WHERE name = ?"
    assert people.sql(find, ["cy'\";--"]).fetchall() == [(3,)]
    assert people.sql(find, ["x' OR 'a' = 'a"]).fetchall() == []
    assert people.sql("SELECT id FROM people WHERE id IN (?, ?) AND height > ? ORDER BY id LIMIT ?",
                      (1, 3, -1.5, 1)).fetchall() == [(1,)]
    assert people.sql("SELECT ?, '?', ? -- ?", [None, True]).fetchall() == [(None, "?", True)]


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -2**63, 0.1, -0.0, float("inf"), True, False, "", "ä'", "a\0b"])
def test_values_come_back_as_they_were(db, value):
    found = db.sql("SELECT ?", [value])[0][0]
    assert found == value and type(found) is type(value)
    kind = {int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", str: "TEXT"}[type(value)]
    db.sql(f"CREATE TABLE kept (x {kind})")
    db.sql("INSERT INTO kept VALUES (?)", [value])
    assert db.sql("SELECT x FROM kept").fetchall() == [(value,)]


def test_nan_and_numbers_of_numpy(db):
    found = db.sql("SELECT ?, ?, ?, ?, ?", [float("nan"), np.float64(1.5), np.float32(0.5), np.int64(7), np.bool_(True)])[0]
    assert np.isnan(found[0]) and found[1:] == (1.5, 0.5, 7, True)
    assert [type(x) for x in found] == [float, float, float, int, bool]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
                                  np.longlong, np.float16, np.float32, np.float64, np.longdouble, np.bool_])
def test_every_number_of_numpy_is_a_value(db, kind):
    expected = kind(1).item() if kind is not np.longdouble else 1.0
    for value in (kind(1), np.array(1, dtype=kind)):
        found = db.sql("SELECT ?", [value])[0][0]
        assert found == expected and type(found) is type(expected)
    if np.issubdtype(kind, np.integer) and kind is not np.uint64:
        ends = [int(np.iinfo(kind).min), int(np.iinfo(kind).max)]
        assert db.sql("SELECT ?, ?", [kind(end) for end in ends]).fetchall() == [tuple(ends)]


def test_arrays_are_tensors(db):
    session = db.session()
    session.sql("CREATE TABLE t (i INT, m MATRIX[2][3], v VECTOR[2] OF FLOAT)")
    m = np.arange(6.0).reshape(2, 3)
    session.sql("INSERT INTO t VALUES (?, ?, ?)", [0, m, np.array([1, 2], np.float32)])
    assert session.insert("t", ((i, m[:, ::-1] * i, np.array([i, i], np.float32)) for i in (1, 2))) == 2
    rows = session.sql("SELECT i, m, v, m * ? AS w FROM t ORDER BY i", [m]).fetchall()
    for i, found, vector, product in rows:
        expected = m if i == 0 else m[:, ::-1] * i
        assert isinstance(found, np.ndarray) and np.array_equal(found, expected)
        assert np.array_equal(product, expected * m)
        assert vector.dtype == np.float32 and np.array_equal(vector, [1, 2] if i == 0 else [i, i])
    column = session.sql("SELECT m FROM t WHERE i = ?", [2]).column("m")
    assert column.dtype == object and np.array_equal(column[0], m[:, ::-1] * 2)


def test_tensors_of_arrays(db):
    a = np.random.default_rng(1).normal(size=(5, 4))
    db.sql("CREATE TENSOR A AS ? + 0", [a])
    db.sql("CREATE TENSOR B AS A @ ?", [a.T])
    assert np.allclose(db.read("B").numpy(), a @ a.T)


def test_sparse_matrices_are_given_and_found(db):
    matrix = scipy.sparse.random(6, 5, 0.3, "csr", random_state=1)
    db.sql("CREATE TABLE t (i INT, m MATRIX[6][5])")
    db.sql("INSERT INTO t VALUES (0, ?)", [matrix])
    assert np.array_equal(db.sql("SELECT m FROM t")[0][0], matrix.toarray())
    db.store("S", ts.relation(matrix, tile=(6, 5), presence="sparse"))
    found = db.sql("SELECT tile FROM S")[0][0]
    assert isinstance(found, ts.Tile) and (found.scipy() != matrix).nnz == 0


@pytest.mark.parametrize("text, values, message", [
    ("SELECT ?", [], "no values given for the parameters (?)"),
    ("SELECT ?, ?", [1], "too few values for the parameters (?): found only 1"),
    ("SELECT ?", [1, 2], "too many values for the parameters (?): expected 1, found 2"),
    ("SELECT * FROM ?", ["people"], "expected"),
    ("COPY people FROM ?", [3], "the value for ? is not a text"),
    ("CREATE VIEW v AS SELECT ? AS x", [3], "a view cannot contain parameters (?)"),
    ("CREATE TABLE v[i:0...] AS SELECT ? AS x", [3], "a versioned table cannot contain parameters (?)"),
])
def test_values_that_do_not_fit(people, text, values, message):
    with pytest.raises(ts.StatementError) as error:
        people.sql(text, values)
    assert message in str(error.value)


@pytest.mark.parametrize("value", [
    decimal.Decimal("1.5"), fractions.Fraction(1, 2), datetime.date(2024, 2, 29), b"ab", bytearray(b"ab"), {1}, {"a": 1},
    object(), 1j, np.complex64(1j), np.datetime64("2024-02-29"), np.timedelta64(3, "s"), np.bytes_(b"ab"),
    (x for x in [1])], ids=lambda value: type(value).__name__)
def test_values_of_no_kind_we_know(db, value):
    with pytest.raises(ts.TypeError) as error:
        db.sql("SELECT ?, ?", [1, value])
    assert str(error.value).startswith(f"value 2 for ? has type {type(value).__name__}, which SQL does not support; use None")
    with pytest.raises(ts.TypeError, match="value 1 of row 1 has type"):
        db.session().insert("t", [(1,), (value,)])


@pytest.mark.parametrize("value", [2**63, -2**63 - 1, np.uint64(2**63), np.array(2**64 - 1, np.uint64)], ids=str)
def test_integers_that_do_not_fit(db, value):
    with pytest.raises(ts.ValueError, match=f"^value 1 for \\? is out of range for BIGINT: {value}$"):
        db.sql("SELECT ?", [value])


def test_texts_and_arrays_that_are_none(db):
    with pytest.raises(ts.ValueError, match=r"^value 2 for \? is not valid Unicode text"):
        db.sql("SELECT ?, ?", ["ok", "a\ud800b"])
    for value in (np.zeros(2, np.int32), ["a", "b"], np.array(["a"], object)):
        with pytest.raises(ts.TypeError, match=r"^value 1 for \?: unsupported dtype of an array: .* cast it to float32"):
            db.sql("SELECT ?", [value])
    with pytest.raises(ts.TypeError, match=r"^cannot convert value 1 for \? of type list to an array"):
        db.sql("SELECT ?", [[[1], [1, 2]]])


@pytest.mark.parametrize("values", ["a", b"ab", {1: 2}, {1, 2}, 5, 1.5, object(), np.float64(1)],
                         ids=lambda values: type(values).__name__)
def test_values_that_are_no_list(db, values):
    kind = type(values).__name__
    with pytest.raises(ts.TypeError, match=f"^values must be a list or a tuple, not {kind}$"):
        db.sql("SELECT ?", values)
    with pytest.raises(ts.TypeError, match=f"^row 0 must be a list or a tuple of values, not {kind}"):
        db.session().insert("t", [values])


def test_lists_of_other_kinds(db):
    for values in ((1, 2), iter([1, 2]), (x for x in [1, 2]), range(1, 3), np.array([1, 2], np.int16)):
        assert db.sql("SELECT ?, ?", values).fetchall() == [(1, 2)]
    assert db.sql("SELECT 1", None).fetchall() == db.sql("SELECT 1", []).fetchall() == [(1,)]
    assert db.sql("SELECT ?", [range(3)])[0][0].tolist() == [0, 1, 2]
    with pytest.raises(ts.TypeError, match="row 1 has 1 values, but the first row has 2"):
        db.session().insert("t", [(1, 2), (3,)])


def test_inserting_by_column_names_and_all_or_nothing(people):
    session = people.session()
    with pytest.raises(ts.StatementError, match="is out of range for INT"):
        session.insert("people", [(4, "dee", 1.0, True), (2**40, "eve", 1.0, True)])
    assert people.sql("SELECT COUNT(*) FROM people").fetchall() == [(3,)]
    assert session.insert("people", [(True, 4, "dee", 1.5)], columns=["here", "id", "name", "height"]) == 1
    assert people.sql("SELECT * FROM people WHERE id = 4").fetchall() == [(4, "dee", 1.5, True)]
    assert session.insert("people", []) == 0


def test_errors_have_a_place_and_are_of_their_kind(people):
    with pytest.raises(ts.StatementError) as error:
        people.sql("SELECT id,\n  nope FROM people")
    found = error.value
    assert (found.kind, found.line, found.column) == ("TypeError", 2, 3)
    assert str(found) == ('TypeError: column "nope" not found; did you mean "name"?\n'
                          "line 2:   nope FROM people\n          ^")
    with pytest.raises(ts.TypeError, match="column \"weight_of\" not found; available: people.id, people.name, "
                                           "people.height, people.here"):
        people.sql("SELECT weight_of FROM people")
    assert isinstance(found, ts.Error) and isinstance(found, ts.TypeError) and isinstance(found, TypeError)
    with pytest.raises(ts.ParseError):
        people.sql("SELEC 1")
    with pytest.raises(OSError):
        people.sql("COPY people FROM ?", ["/nowhere/at all.csv"])
    with pytest.raises(MemoryError):
        people.session(memory_limit=1).sql("CREATE TENSOR A AS ? @ ?", [np.eye(64), np.eye(64)])


def test_files_by_their_names(people, tmp_path):
    path = str(tmp_path / "it's.csv")
    assert people.sql("COPY people TO ?", [path]).message == "wrote 3 rows"
    people.sql("CREATE TABLE again (id INT, name TEXT, height DOUBLE, here BOOLEAN)")
    people.sql("COPY again FROM ?", [path])
    assert sorted(people.sql("SELECT * FROM again")) == sorted(people.sql("SELECT * FROM people"))


def test_a_temporary_database(tmp_path):
    program = ("import tessera as ts; ts.sql('CREATE TABLE t (x INT)'); ts.sql('INSERT INTO t VALUES (?)', [5]); "
               "print(ts.sql('SELECT x FROM t').fetchall()); db = ts.connect(); print(len(db.sql('SHOW TABLES')))")
    done = subprocess.run([sys.executable, "-c", program], check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.stdout == "[(5,)]\n0\n"
    assert list(tmp_path.iterdir()) == []


def test_settings_hold_in_their_session(db):
    assert db.sql("SET frame_size = 7; SELECT 1").fetchall() == [(1,)]
    with pytest.raises(ts.TypeError, match=r"SET has no effect here, .* db\.session\(\)"):
        db.sql("SET frame_size = 7")
    session = db.session()
    session.sql("SET frame_size = 7")
    assert ("frame_size", "7") in [row[:2] for row in session.sql("SHOW SETTINGS")]


def test_threads_share_a_session(db):
    session = db.session()
    session.sql("CREATE TABLE t (x INT)")
    threads = [threading.Thread(target=lambda i=i: session.insert("t", [(i,)] * 10)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.sql("SELECT COUNT(*) FROM t").fetchall() == [(80,)]


def with_products(db, tiles):
    """A database in which PRODUCTS takes long."""
    rows = np.random.default_rng(1).normal(size=(tiles * 200, 200))
    db.store("X", ts.relation(rows, tile=(200, 200)))


PRODUCTS = "SELECT SUM(matmul(a.tile, b.tile)) FROM X AS a, X AS b"


def test_progress_is_told_and_may_stop_a_statement(db):
    with_products(db, 12)
    session, seen = db.session(), []
    session.sql(PRODUCTS, progress=lambda progress: seen.append(progress.tasks_done / progress.tasks))
    assert seen and seen == sorted(seen) and seen[-1] == 1

    def enough(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        session.sql(f"CREATE TABLE t AS {PRODUCTS}", progress=enough)
    assert session.sql("SHOW TABLES").column("name").tolist() == ["X"]


def test_ctrl_c_stops_a_statement_and_keeps_the_session(db):
    with_products(db, 300)
    session, begun = db.session(), threading.Event()
    other = threading.Thread(target=lambda: begun.wait() and os.kill(os.getpid(), signal.SIGINT))
    other.start()
    with pytest.raises(KeyboardInterrupt):
        session.sql(f"CREATE TABLE t AS {PRODUCTS}", progress=lambda _: begun.set())
    other.join()
    assert session.sql("SHOW TABLES").column("name").tolist() == ["X"]


def test_ctrl_c_stops_a_sort_of_rows(db):
    session = db.session()
    session.sql("CREATE TABLE t (x INT)")
    session.insert("t", [(i,) for i in range(2000)])
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:  # however fast it is
            session.sql("SELECT a.x FROM t AS a, t AS b WHERE a.x < b.x ORDER BY a.x + b.x DESC")
    assert session.sql("SELECT COUNT(*) FROM t").fetchall() == [(2000,)]


def test_frames_are_counted(db):
    session = db.session(frame_size=4)
    session.sql("CREATE TABLE x[0] AS SELECT 1.0 AS v; CREATE TABLE x[i:1...] AS SELECT v + 1 AS v FROM x[i-1]")
    seen = []
    assert session.sql("SELECT v FROM x[40]", progress=lambda p: seen.append((p.frame, p.frames))).fetchall() == [(41.0,)]
    frames = seen[0][1]
    assert frames > 5
    counted = [frame for frame, of in seen if of == frames]
    assert counted == sorted(counted) and set(counted) == set(range(1, frames + 1))
