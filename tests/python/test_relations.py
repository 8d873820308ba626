"""Relations and the seven operators, with NumPy as the oracle."""
import doctest

import numpy as np
import pytest
import scipy.sparse as sp

import tessera as ts

X = np.arange(35.0).reshape(5, 7)
Y = np.arange(42.0).reshape(7, 6) - 20


def test_the_packages_own_examples():
    assert doctest.testmod(ts).failed == 0


def test_matrix_product_with_tiles_that_do_not_divide():
    a, b = ts.relation(X, (2, 3)).plan("A"), ts.relation(Y, (3, 4)).plan("B")
    product = a.join(b, [1], [0], "matmul").aggregate([0, 2], "add")
    assert product.frontier == (3, 2) and product.cardinality == (6, True)
    assert np.array_equal(product.run().numpy(), X @ Y)
    assert "Join <1> = <0> with matmul" in product.explain()


def test_a_column_as_it_is_is_a_number():
    r = ts.relation(X, (2, 3)).plan("A").transform([("neg", [0]), 0])
    assert "Transform with neg; column 0" in r.explain()
    assert np.array_equal(r.run().numpy(0), -X) and np.array_equal(r.run().numpy(1), X)
    assert np.array_equal(r.transform(1).run().numpy(), X)
    for wrong in (lambda: r.transform(2), lambda: r.transform([(1, [0])]), lambda: r.aggregate([0], [1, "add"])):
        with pytest.raises(ts.TypeError):
            wrong()


def test_sparse_relations():
    matrix = sp.random(50, 50, 0.002, "csr", random_state=1)
    r = ts.relation(matrix, (10, 10), presence="sparse")
    assert r.presence == "sparse" and len(r) < 25
    plan = r.plan("S").join(r.plan("S"), [1], [0], "matmul").aggregate([0, 2], "add")
    assert np.allclose(r.numpy(), matrix.toarray())
    result = plan.run()
    for (i, j), tile in result.items():
        assert np.allclose(tile, (matrix @ matrix).toarray()[10 * i:10 * i + 10, 10 * j:10 * j + 10])
    assert np.allclose(r[0, 0], matrix.toarray()[:10, :10])


def test_filter_rekey_transform():
    r = ts.relation(np.arange(16.0).reshape(4, 4), (2, 2)).plan("A")
    diagonal = r.filter("k0 = k1").rekey("<i, j> -> <i>").transform("diag").run()
    assert [t.numpy().tolist() for _, t in diagonal.items()] == [[0, 5], [10, 15]]
    assert r.filter(lambda i, j: i == j).run(allow_holes=True).frontier == (2, 2)
    assert r.rekey(lambda i, j: (j, i)).run().frontier == (2, 2)
    with pytest.raises(ts.PlanError, match="keys must be unique"):
        r.rekey("<k0 + k1>").run()
    with pytest.raises(ts.PlanError, match="<0, 1> below the frontier <2, 2> is missing"):
        r.filter("k0 = k1").run()


def test_tile_and_concat():
    r = ts.relation(X, (5, 4)).plan("X")
    assert np.array_equal(r.tile(1, 2).concat(2, 1).run().numpy(), X)


def test_several_columns():
    r = ts.Relation({(0,): (np.ones(2), 3.0), (1,): (np.zeros(2), 4.0)}).rename(["v", "w"])
    assert r.columns == ["v", "w"] and r[0][1].numpy() == 3
    folded = r.plan().aggregate([], ["add", "maximum"]).run()
    assert np.array_equal(folded[()][0], [1, 1]) and folded[()][1].numpy() == 4
    scaled = r.plan().transform([("mul", [0, 1], ["vw"])]).run()
    assert np.array_equal(scaled[0], [3, 3]) and scaled.columns == ["vw"]


def test_statistics_and_errors():
    stats = ts.relation(X, (2, 3)).statistics()
    assert stats == {"tuples": 9, "nonzeros": 34, "min": 0, "max": 34, "distinct": [3, 3]}
    with pytest.raises(ts.PlanError, match="key <1> below the frontier <3> is missing"):
        ts.Relation({0: 1.0, 2: 2.0})
    with pytest.raises(KeyError):
        ts.Relation({0: 1.0, 2: 2.0}, presence="partial")[1]
    with pytest.raises(ts.ParseError, match="column"):
        ts.relation(X, (2, 3)).plan().filter("k0 <")
    with pytest.raises(MemoryError, match="out of memory: a tile of f64"):
        ts.Tile.zeros((1 << 45, 1024))


def test_closedness_before_running():
    holes = ts.closedness((4, 4), where="k0 = k1")
    assert holes["continuous"]["answer"] == "no" and holes["unique"]["answer"] == "yes"
    assert ts.closedness((4, 4), map="<4*k0 + k1>")["frontier"] == (16,)
    large = ts.closedness((10**6, 10**6), map="<k1, k0>")
    assert large["unique"]["answer"] == large["continuous"]["answer"] == "yes"


def test_types_without_data():
    p = ts.Plan.virtual((10, 10), (4000, 4000), name="P")
    product = p.join(p, [1], [0], "matmul").aggregate([0, 2], "add")
    assert product.cardinality == (100, True) and "f64[4000x4000]" in product.explain()
    with pytest.raises(ts.PlanError, match="a type but no tuples"):
        product.run()


def test_what_a_key_function_raises_is_raised():
    plan = ts.relation(X, (2, 3)).plan()

    def interrupt(i, j):
        raise KeyboardInterrupt

    def fail(i, j):
        raise LookupError("no such tile")

    for operation in (plan.filter, plan.rekey):
        with pytest.raises(KeyboardInterrupt):
            operation(interrupt).run()
        with pytest.raises(LookupError, match="no such tile"):
            operation(fail).run()


def test_arguments_of_the_wrong_kind():
    plan = ts.relation(X, (2, 3)).plan()
    for attempt in (lambda: plan.filter(None), lambda: plan.rekey(3), lambda: plan.transform(3),
                    lambda: ts.Relation([1, 2]), lambda: ts.Relation({"a": 1.0}),
                    lambda: ts.Relation({(0.5,): 1.0}), lambda: ts.relation(X, (2, 3))["x"]):
        with pytest.raises(TypeError):
            attempt()
    with pytest.raises(ts.PlanError, match="'x' is not a key"):
        plan.rekey(lambda i, j: "x").run()
    assert plan.rekey(lambda i, j: 3 * i + j, output_arity=1).run().frontier == (9,)
