"""Stored relations from Python."""
import os
import shutil
import tempfile

import numpy as np
import pytest
import tessera as ts


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "lab.tsdb"


def test_stored_tensors_are_there_again(folder):
    x = np.arange(35.0).reshape(7, 5)
    db = ts.connect(folder)
    db.store("X", ts.relation(x, tile=(3, 2)))
    again = ts.connect(str(folder), create=False)
    assert again.list() == ["X"]
    assert np.array_equal(again.read("X").numpy(), x)
    info = again.info("X")
    assert info["shape"] == (7, 5) and info["statistics"]["max"] == 34.0
    assert repr(again) == f"Database('{folder}')"


def test_plans_over_stored_tensors(folder):
    x, y = np.random.default_rng(1).random((8, 6)), np.random.default_rng(2).random((6, 9))
    db = ts.connect(folder, compress=True)
    db.store("X", ts.relation(x, tile=(3, 4)))
    db.store("Y", ts.relation(y, tile=(4, 5)))
    product = db.plan("X").join(db.plan("Y"), [1], [0], "matmul").aggregate([0, 2], "add")
    db.store("Z", product)
    assert np.allclose(db.read("Z").numpy(), x @ y)
    assert "Input Z" in db.plan("Z").explain()


def test_drop_rename_vacuum_check(folder):
    db = ts.connect(folder)
    db.store("A", ts.relation(np.ones((200, 200)), tile=(100, 100)))
    db.rename("A", "B")
    assert db.list() == ["B"] and db.check() == []
    db.drop("B")
    assert db.vacuum() > 200 * 200 * 8
    with pytest.raises(ts.TypeError, match='relation "B" not found'):
        db.plan("B")


def test_damage_is_named(folder):
    db = ts.connect(folder)
    db.store("A", ts.relation(np.ones((40, 40)), tile=(20, 20)))
    segment = next((folder / "segments").iterdir())
    data = bytearray(segment.read_bytes())
    data[1000] ^= 1
    segment.write_bytes(data)
    (name, key, reason), = db.check()
    assert (name, key) == ("A", (0, 0)) and "checksum" in reason
    with pytest.raises(ts.IoError, match="the tile of \"A\" at <0, 0> is damaged"):
        db.plan("A").run()


def test_a_read_only_database_refuses_to_write(folder):
    with pytest.raises(ts.IoError, match="database .* does not exist"):
        ts.connect(folder, read_only=True)
    ts.connect(folder)
    with pytest.raises(ts.IoError, match="is read-only"):
        ts.connect(folder, read_only=True).drop("A")


def test_plans_larger_than_their_memory(folder):
    rng = np.random.default_rng(1)
    a, b = rng.random((300, 400)), rng.random((400, 500))
    db = ts.connect(folder)
    db.store("A", ts.relation(a, tile=(50, 50)))
    db.store("B", ts.relation(b, tile=(50, 50)))
    product = db.plan("A").join(db.plan("B"), [1], [0], "matmul").aggregate([0, 2], "add")
    seen = []
    took = db.store("C", product, memory_limit="400kB", progress=seen.append)
    assert np.allclose(db.read("C").numpy(), a @ b)
    assert took["peak_bytes"] <= 400_000 < a.nbytes + b.nbytes
    assert took["bytes_read"] > a.nbytes + b.nbytes and seen[-1].bytes_read == took["bytes_read"]
    forecast = product.forecast(memory_limit="400kB")
    assert forecast["limit"] == 400_000 and forecast["needed"] == 300 * 500 * 8
    forecast = product.forecast(memory_limit="400kB", stored=True)
    assert forecast["needed"] == 3 * 50 * 50 * 8 and forecast["peak"] <= 400_000
    assert forecast["order"].endswith("results at a time") and forecast["spilled"] == 0
    assert "memory: 1.44 MB at most of 2.00 MB, 1.20 MB needed; 2.56 MB read" in product.explain(memory_limit="2MB")
    with pytest.raises(ts.OutOfMemory, match=r"needs 1.20 MB of memory, but the limit is 400 kB"):
        product.run(memory_limit=400_000)
    with pytest.raises(ts.TypeError, match="'many' is not a number of bytes"):
        product.run(memory_limit="many")
    for none in 0, "0", "0.5", "0MB":
        with pytest.raises(ts.TypeError, match="memory_limit must be positive"):
            product.run(memory_limit=none)
    for odd in 2**63, 2**70, 1.5, [1]:
        with pytest.raises(ts.TypeError, match="invalid memory_limit"):
            product.run(memory_limit=odd)
    for large in 2**63 - 1, np.int64(2**40):
        assert np.allclose(product.run(memory_limit=large).numpy(), a @ b)
    assert product.forecast(memory_limit="1EB")["limit"] == 10**18
    assert "C" in db.list() and db.check() == []


def test_a_store_that_is_interrupted_leaves_nothing(folder):
    db = ts.connect(folder)
    db.store("A", ts.relation(np.ones((400, 400)), tile=(20, 20)))
    before = sorted(p.stat().st_size for p in (folder / "segments").iterdir())

    def stop(_):
        raise KeyError("enough")

    plan = db.plan("A").join(db.plan("A"), [1], [0], "matmul").aggregate([0, 2], "add")
    with pytest.raises(KeyError):
        db.store("B", plan, progress=stop)
    assert db.list() == ["A"]
    db.checkpoint()
    assert sorted(p.stat().st_size for p in (folder / "segments").iterdir()) == before


def test_a_checkpoint_gives_back_whole_segments(folder):
    db = ts.connect(folder)
    db.store("A", ts.relation(np.ones((40, 40)), tile=(20, 20)))
    db.checkpoint()
    assert len(list((folder / "segments").iterdir())) == 1
    db.drop("A")
    db.checkpoint()
    assert not list((folder / "segments").iterdir()) and db.check() == []


def test_what_was_computed_is_remembered(folder):
    db = ts.connect(folder)
    db.store("A", ts.relation(np.ones((60, 60)), tile=(20, 20)))
    product = db.plan("A").join(db.plan("A"), [1], [0], "matmul").aggregate([0, 2], "add")
    db.store("B", product)
    db.store("C", db.plan("A").transform("exp"))
    latest, first = ts.connect(folder).history()
    assert (latest["name"], first["name"]) == ("C", "B")
    assert first["plan"] == product.explain() and first["flops"] == 2 * 60**3
    rates = db.kernel_rates()
    assert set(rates) == {"exp", "matmul"} and rates["matmul"]["tasks"] == 27
    assert rates["matmul"]["flops"] == 2 * 60**3 and rates["matmul"]["seconds"] > 0


@pytest.mark.parametrize("mode", [0o555, 0o600], ids=["read", "nothing"])
def test_who_may_not_write_is_told_so(tmp_path, mode):
    """Root may write everywhere: it becomes somebody else for this."""
    place = tempfile.mkdtemp()
    try:
        ts.connect(os.path.join(place, "lab.tsdb")).store("X", ts.relation(np.eye(2), tile=(2, 2)))
        os.chmod(place, 0o755)
        os.chmod(os.path.join(place, "lab.tsdb"), mode)
        said = tmp_path / "said"
        with open(said, "w") as out:
            process = os.fork()
            if process == 0:
                try:
                    if os.getuid() == 0:
                        os.setresuid(65534, 65534, 65534)
                    if not os.path.isdir(place):
                        out.write("nobody may look into any folder")  # of a root that is closed
                    out.write(" ".join(ts.connect(os.path.join(place, "lab.tsdb"), read_only=True).list()))
                    out.flush()
                    ts.connect(os.path.join(place, "lab.tsdb")).drop("X")
                except BaseException as error:
                    out.write(str(error))
                    out.flush()
                finally:
                    os._exit(0)
            os.waitpid(process, 0)
        if "nobody may look" in said.read_text():
            pytest.skip("there is no folder that another user may look into")
        if mode == 0o555:
            assert said.read_text().startswith("X") and "Permission denied" in said.read_text()
        else:
            assert f"cannot read {place}/lab.tsdb: Permission denied" in said.read_text()
    finally:
        os.chmod(os.path.join(place, "lab.tsdb"), 0o755)
        shutil.rmtree(place)
