"""What help() says: each public class, function, method and attribute has a sentence of its own."""
import inspect
import re

import pytest
import tessera as ts

CLASSES = [ts.Database, ts.FileProgress, ts.Kernel, ts.Placement, ts.Plan, ts.Progress, ts.Relation, ts.Result,
           ts.Session, ts.Tile]


def sentences(doc):
    """The docstring without the signatures that pybind11 adds."""
    lines = (doc or "").splitlines()
    return " ".join(line for line in lines if "->" not in line and line != "Overloaded function.").strip()


def members(one):
    return [(name, member) for name, member in vars(one).items() if not name.startswith("_")]


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_a_class_and_its_members_are_described(one):
    assert re.match(r"[A-Z].*\.$", sentences(one.__doc__))
    assert members(one)
    for name, member in members(one):
        said = sentences(inspect.getdoc(getattr(member, "__func__", member)))
        assert re.match(r"([0-9]\. )?.*[A-Za-z].*[.)]$", said), f"{one.__name__}.{name}: {said!r}"


def test_functions_are_described():
    for name in ts.__all__:
        if inspect.isroutine(getattr(ts, name)):
            assert sentences(getattr(ts, name).__doc__).endswith("."), name
    assert "product" in ts.kernels.matmul.__doc__.lower()
    assert ts.kernels.rowSum.__doc__ == "Short for sum(axes=[-1])."


def test_signatures_have_names_of_python():
    for one in CLASSES:
        for name, member in members(one):
            doc = inspect.getdoc(getattr(member, "__func__", member)) or ""
            assert "tessera::" not in doc, f"{one.__name__}.{name}: {doc}"
