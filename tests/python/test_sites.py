"""Explaining plans on several sites from Python."""
import json

import numpy as np
import pytest

import tessera as ts


def product():
    a = ts.Plan.virtual((4, 4), (1000, 1000), name="A")
    b = ts.Plan.virtual((4, 4), (1000, 1000), name="B")
    return a.join(b, [1], [0], "matmul").aggregate([0, 2], "add")


def explained(plan, **options):
    return json.loads(plan.explain(json=True, **options))


def test_without_sites_the_logical_plan_is_shown():
    assert product().explain() == repr(product())


def test_json_has_the_costs_the_plan_and_the_alternatives():
    told = explained(product(), sites=4)
    assert told["sites"] == 4 and told["objective"] == "exact"
    assert told["transfer_floats"] > 0 and told["flops"] >= 2 * 4000**3
    assert {"Input A", "Input B"} <= {node["operator"] for node in told["plan"]}
    assert all({"name", "transfer_floats"} <= set(other) for other in told["alternatives"])
    assert explained(product(), sites=4, alternatives=False)["alternatives"] == []


def test_relations_at_hand_can_be_explained_too():
    x = ts.relation(np.arange(16.0).reshape(4, 4), tile=(2, 2)).plan("X")
    assert "2 sites:" in x.aggregate([0], "add").explain(sites=2)


def test_inputs_lie_as_they_are_said_to():
    told = explained(product(), sites=4, placed={"A": ts.Placement.grid([0, 1], [2, 2]),
                                                 "B": ts.Placement.all()})
    lies = {node["operator"]: node["placement"] for node in told["plan"]}
    assert lies["Input A"] == "PART<0, 1> on 2x2" and lies["Input B"] == "ALL"
    told = explained(product(), sites=4, placed={"A": ts.Placement.part([1])})
    lies = {node["operator"]: node["placement"] for node in told["plan"]}
    assert lies["Input A"] == "PART<1> on 4" and lies["Input B"] == "PART<0+1> on 4"


def test_free_inputs_move_no_more():
    dealt = explained(product(), sites=4)
    free = explained(product(), sites=4, placed={"A": None, "B": None})
    assert free["seconds"] <= dealt["seconds"]


def test_placements_are_printed():
    assert repr(ts.Placement.all()) == "Placement ALL"
    assert repr(ts.Placement.part([0, 2])) == "Placement PART<0+2>"
    assert repr(ts.Placement.grid([0, 1], [2, 4])) == "Placement PART<0, 1> on 2x4"


@pytest.mark.parametrize("options, message", [
    ({"sites": 0}, "invalid number of sites 0"),
    ({"sites": 2, "objective": "fast"}, "'exact' or 'published', not 'fast'"),
    ({"sites": 2, "placed": {"C": None}}, 'cannot place input "C": not found; available: A, B'),
    ({"sites": 2, "placed": {"A": ts.Placement.part([2])}}, "key component 2 does not exist"),
    ({"sites": 2, "placed": {"A": ts.Placement.grid([0], [3])}}, "a grid needs 3 sites or more, but there are 2"),
    ({"sites": 2, "disabled": ["broadcast"]}, 'rule or pass "broadcast" not found'),
])
def test_mistakes(options, message):
    with pytest.raises(ts.PlanError, match=message):
        product().explain(**options)


def test_axes_have_extents():
    with pytest.raises(ts.PlanError, match="components and extents must have the same length, not 1 and 2"):
        ts.Placement.grid([0], [2, 2])


def test_json_without_sites_is_for_one():
    plan = json.loads(ts.Plan.virtual((2, 2), (3, 3), name="A").transform("neg").explain(json=True))
    assert plan["transfer_floats"] == 0


def test_more_sites_than_there_may_be():
    with pytest.raises(ts.PlanError, match="1 to 4096"):
        ts.Plan.virtual((2, 2), (3, 3)).explain(sites=2**31 - 1)
    with pytest.raises(ts.PlanError, match="1 to 4096"):
        ts.relation([[1.0]], (1, 1)).plan().run(sites=100000)
