"""Random plans against an independent model: a dictionary from keys to NumPy arrays.

The model is written from the definitions of the operators alone. It also says when a plan has no
answer (keys that collide or are negative, tiles that do not fit), and then ours must refuse it.
"""
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import tessera as ts


class NoAnswer(Exception):
    pass


class Model:
    """Tuples in a dictionary; absent keys of a sparse relation are filled in from the start."""

    def __init__(self, tuples):
        self.tuples = tuples

    def arity(self):
        return len(next(iter(self.tuples))) if self.tuples else None

    def aggregate(self, by, function):
        groups = {}
        for key in sorted(self.tuples):
            group = tuple(key[i] for i in by)
            tile = self.tuples[key]
            if group in groups and groups[group].shape != tile.shape:
                raise NoAnswer
            groups[group] = function(groups[group], tile) if group in groups else tile
        return Model(groups)

    def join(self, other, left, right, function):
        result = {}
        for (k, a), (m, b) in itertools.product(self.tuples.items(), other.tuples.items()):
            if all(k[i] == m[j] for i, j in zip(left, right)):
                try:
                    tile = function(a, b)
                except ValueError:
                    raise NoAnswer
                result[k + tuple(c for j, c in enumerate(m) if j not in right)] = tile
        return Model(result)

    def rekey(self, function):
        result = {}
        for key, tile in self.tuples.items():
            new = function(*key)
            if new in result or min(new, default=0) < 0:
                raise NoAnswer
            result[new] = tile
        return Model(result)

    def filter(self, predicate):
        return Model({k: t for k, t in self.tuples.items() if predicate(*k)})

    def transform(self, function):
        return Model({k: function(t) for k, t in self.tuples.items()})

    def tile(self, dimension, size):
        longest = max((t.shape[dimension] for t in self.tuples.values()), default=0)
        pieces = max(1, -(-longest // size))
        cut = lambda t, i: np.take(t, range(min(i * size, t.shape[dimension]),
                                            min((i + 1) * size, t.shape[dimension])), dimension)
        return Model({k + (i,): cut(t, i) for k, t in self.tuples.items() for i in range(pieces)})

    def concat(self, component, dimension):
        groups = {}
        for key in sorted(self.tuples, key=lambda k: k[component]):
            groups.setdefault(key[:component] + key[component + 1:], []).append(key)
        for keys in groups.values():
            if [k[component] for k in keys] != list(range(len(keys))):
                raise NoAnswer
        try:
            return Model({g: np.concatenate([self.tuples[k] for k in keys], dimension)
                          for g, keys in groups.items()})
        except ValueError:
            raise NoAnswer


def random_input(rng):
    """A tensor cut into tiles, some of it zeros and perhaps not stored, or with tuples missing."""
    shape = tuple(int(n) for n in rng.integers(1, 6, 2))
    tile = tuple(int(n) for n in rng.integers(1, 4, 2))
    tensor = rng.integers(-3, 4, shape).astype(float)
    for _ in range(2):
        i, j = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        tensor[i:i + 3, j:j + 3] = 0
    cuts = [range(0, n, t) for n, t in zip(shape, tile)]
    tuples = {(i, j): tensor[a:a + tile[0], b:b + tile[1]]
              for (i, a), (j, b) in itertools.product(*map(enumerate, cuts))}
    kind = rng.choice(["continuous", "sparse", "partial"])
    if kind == "partial":
        tuples = {k: t for k, t in tuples.items() if rng.random() < 0.7} or tuples
        return ts.Relation(tuples, presence="partial").plan("T"), Model(tuples)
    return ts.relation(tensor, tile, presence=kind).plan("T"), Model(tuples)


KEYS = {1: [("<k0>", lambda a: (a,)), ("<2*k0>", lambda a: (2 * a,)), ("<k0 - 1>", lambda a: (a - 1,)),
            ("<k0 div 2, k0 mod 2>", lambda a: (a // 2, a % 2)), ("<k0 mod 3>", lambda a: (a % 3,))],
        2: [("<k1, k0>", lambda a, b: (b, a)), ("<k0 + k1>", lambda a, b: (a + b,)),
            ("<7*k0 + k1>", lambda a, b: (7 * a + b,)), ("<k0, k1 + 1>", lambda a, b: (a, b + 1))]}
FILTERS = [("k0 < 2", lambda a, *_: a < 2), ("k0 mod 2 = 1", lambda a, *_: a % 2 == 1), ("true", lambda *_: True)]
UNARY = [("neg", np.negative), ("add_scalar(value=1)", lambda t: t + 1), ("relu", lambda t: np.maximum(t, 0)),
         ("transpose", np.transpose), ("sum(axes=[0], keepdims=true)", lambda t: t.sum(0, keepdims=True))]
BINARY = [("add", np.add), ("mul", np.multiply), ("maximum", np.maximum), ("matmul", np.matmul)]
FOLDS = [("add", np.add), ("maximum", np.maximum), ("mul", np.multiply)]


def random_step(rng, plan):
    """One more operator, for a plan and for its model."""
    pick = lambda options: options[rng.integers(0, len(options))]
    arity = len(plan.frontier)
    subset = [i for i in range(arity) if rng.random() < 0.6]
    choice = rng.integers(0, 7)
    if choice == 0:
        name, function = pick(FOLDS)
        return lambda p: p.aggregate(subset, name), lambda m: m.aggregate(subset, function)
    if choice == 1 and arity <= 3:
        name, function = pick(BINARY)
        other_plan, other_model = random_input(rng)
        left = subset[:2]
        right = [int(i) for i in rng.permutation(2)[:len(left)]]
        return (lambda p: p.join(other_plan, left, right, name),
                lambda m: m.join(other_model, left, right, function))
    if choice == 2 and arity in KEYS:
        text, function = pick(KEYS[arity])
        return lambda p: p.rekey(text), lambda m: m.rekey(function)
    if choice == 3 and arity:
        text, function = pick(FILTERS)
        return lambda p: p.filter(text), lambda m: m.filter(function)
    if choice == 5:
        dimension, size = int(rng.integers(0, 2)), int(rng.integers(1, 4))
        return lambda p: p.tile(dimension, size), lambda m: m.tile(dimension, size)
    if choice == 6 and arity:
        component, dimension = int(rng.integers(0, arity)), int(rng.integers(0, 2))
        return lambda p: p.concat(component, dimension), lambda m: m.concat(component, dimension)
    name, function = pick(UNARY)
    return lambda p: p.transform(name), lambda m: m.transform(function)


def as_dictionary(relation):
    """With the zeros of a sparse relation, which the model has from the start."""
    if relation.presence != "sparse":
        return dict(relation.items())
    return {key: relation[key] for key in itertools.product(*map(range, relation.frontier))}


def compare(seed):
    """Whether the plan of a seed has an answer; fails if ours and the model's are not the same."""
    rng = np.random.default_rng(seed)
    plan, model = random_input(rng)
    for _ in range(int(rng.integers(1, 5))):
        ours, theirs = random_step(rng, plan)
        try:
            model = theirs(model)
        except NoAnswer:
            with pytest.raises(ts.Error):
                ours(plan).run(allow_holes=True)
            return False
        try:
            plan = ours(plan)
        except ts.TypeError:  # without tuples only the bounds can be judged, and they may not fit
            assert not model.tuples, f"seed {seed}\n{plan.explain()}"
            return False
    actual = as_dictionary(plan.run(allow_holes=True))
    assert actual.keys() == model.tuples.keys(), f"seed {seed}\n{plan.explain()}"
    for key, tile in model.tuples.items():
        assert np.array_equal(actual[key].numpy(), tile), f"seed {seed}, key {key}\n{plan.explain()}"
    return True


def test_random_plans_equal_the_model():
    answers = [compare(seed) for seed in range(6000)]
    assert answers.count(True) > 3000 and answers.count(False) > 300, answers.count(True)


def test_a_plan_goes_to_another_process_as_bytes(tmp_path):
    x = np.arange(30.0).reshape(5, 6)
    a = ts.relation(x, tile=(2, 3)).plan("A")
    plan = a.join(a, [0], [0], "matmul(transpose_a=true)").aggregate([1, 2], "add")
    (tmp_path / "plan").write_bytes(plan.to_bytes())
    np.save(tmp_path / "x.npy", x)
    program = """
import sys, numpy as np, tessera as ts
x = np.load("x.npy")
plan = ts.Plan.from_bytes(open("plan", "rb").read(), {"A": ts.relation(x, tile=(2, 3))})
assert np.array_equal(plan.run(sites=3).numpy(), x.T @ x)
print(plan.explain(), end="")
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == plan.explain()


def test_plans_of_other_inputs_or_from_damaged_bytes_are_refused():
    a = ts.relation(np.arange(30.0).reshape(5, 6), tile=(2, 3)).plan("A")
    written = a.transform("neg").to_bytes()
    with pytest.raises(ts.PlanError, match="input 'A' of the plan is missing"):
        ts.Plan.from_bytes(written)
    with pytest.raises(ts.PlanError, match="of type <3, 2> -> f64"):
        ts.Plan.from_bytes(written, {"A": ts.relation(np.arange(30.0).reshape(3, 10), tile=(2, 3))})
    with pytest.raises(ts.IoError, match="damaged: wrong checksum"):
        ts.Plan.from_bytes(written[:-1] + bytes([written[-1] ^ 1]), {"A": a})
    with pytest.raises(ts.IoError, match="these 3 bytes are not written plans"):
        ts.Plan.from_bytes(b"abc", {"A": a})
    with pytest.raises(TypeError):
        ts.Plan.from_bytes(3, {"A": a})
