"""Which files and servers statements may use: said when a database is opened, or a session begins."""
import numpy as np
import pytest

import tessera as ts
from test_shell_statements import tessera


@pytest.fixture
def folders(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        np.save(folder / "x.npy", np.eye(3))
    return inside, outside


def test_of_a_session(folders):
    inside, outside = folders
    db = ts.connect()
    with pytest.raises(ts.IoError, match="external_access is off in this session"):
        db.session(external_access="off").sql(f"CREATE TENSOR X FROM '{inside / 'x.npy'}'")
    some = db.session(external_access=[inside])
    some.sql(f"CREATE TENSOR X FROM '{inside / 'x.npy'}'")
    with pytest.raises(ts.IoError, match="only files in"):
        some.sql(f"CREATE TENSOR Y FROM '{outside / 'x.npy'}'")
    some.sql(f"COPY X TO '{inside / 'y.npy'}'")
    assert np.array_equal(np.load(inside / "y.npy"), np.eye(3))
    with pytest.raises(ts.IoError, match="only files in"):
        some.sql(f"COPY X TO '{outside / 'y.npy'}'")
    assert not (outside / "y.npy").exists()
    with pytest.raises(ts.TypeError, match="cannot be changed in a running session"):
        some.sql("SET external_access = on")
    db.sql(f"CREATE TENSOR Y FROM '{outside / 'x.npy'}'")


def test_of_a_database(folders, tmp_path):
    inside, outside = folders
    for db in (ts.connect(external_access=[inside]),
               ts.connect(tmp_path / "d.tsdb", external_access=str(inside))):
        db.import_file("X", inside / "x.npy")
        for session in (db, db.session(), db.session(external_access="on")):
            with pytest.raises(ts.IoError, match="only files in"):
                session.sql(f"CREATE TENSOR Y FROM '{outside / 'x.npy'}'")
        with pytest.raises(ts.IoError, match="only files in"):
            db.import_file("Y", outside / "x.npy")
        with pytest.raises(ts.IoError, match="only files in"):
            db.export_file("X", outside / "y.npy")
        with pytest.raises(ts.IoError, match="only files in"):
            db.import_file("Y", "postgresql://localhost/x", query="SELECT 1")


def test_what_it_is():
    for wrong in (7, None):
        with pytest.raises(ts.TypeError, match='"on", "off" or a list of folders'):
            ts.connect(external_access=wrong)
    with pytest.raises(ts.IoError, match="not an existing folder"):
        ts.connect(external_access=["/no/such/folder"])


def test_of_the_shell(folders):
    inside, outside = folders
    allowed = f"{inside}:{inside}"
    well = tessera("--external-access", allowed, "-c", f"CREATE TENSOR X FROM '{inside / 'x.npy'}'")
    assert well.returncode == 0
    for access, command in [("off", f"CREATE TENSOR X FROM '{inside / 'x.npy'}'"),
                            (allowed, f"CREATE TENSOR X FROM '{outside / 'x.npy'}'"),
                            (allowed, f".import {outside / 'x.npy'} X"),
                            (allowed, f".open\nCREATE TENSOR X FROM '{outside / 'x.npy'}'"),
                            ("off", f".output {inside / 'out.csv'}"),
                            (allowed, f".output {outside / 'out.csv'}"),
                            (allowed, f".open {outside / 'other.tsdb'}"),
                            (allowed, f".read {outside / 'x.npy'}")]:
        ended = tessera("--external-access", access, given=command + "\n")
        assert ended.returncode == 1 and "external_access" in ended.stderr, ended.stderr
    assert not (outside / "out.csv").exists() and not (outside / "other.tsdb").exists()
    (inside / "statements.sql").write_text("SELECT 7 AS seven;\n")
    script = f".read {inside / 'statements.sql'}\n.output {inside / 'out.csv'}\nSELECT 8 AS n;\n"
    well = tessera("--external-access", allowed, given=script)
    assert well.returncode == 0 and "seven" in well.stdout and "8" in (inside / "out.csv").read_text()
    wrong = tessera("--external-access", "/no/such/folder", "-c", "SELECT 1")
    assert wrong.returncode == 1 and "is not an existing folder" in wrong.stderr
