"""Random calls of einsum against NumPy's: results, dtypes, and what both refuse. EINSUMS=n and SEED=n make a
campaign of it."""
import os

import numpy as np
import tessera as ts

EINSUMS = int(os.environ.get("EINSUMS", "150"))
SEED = int(os.environ.get("SEED", "0"))
DTYPES = [np.float64, np.float32, np.int64, np.bool_]


class Expressions:
    """The operands are of a pool of tensors whose dimensions have the extents of letters, or 1."""

    def __init__(self, db, random):
        self.db, self.random, self.pool, self.drawn = db, random, [], 0
        self.extents = {letter: int(random.choice([1, 2, 3, 4, 0], p=[.15, .3, .3, .2, .05])) for letter in "abcDE"}
        self.extents |= {letter: int(random.choice([1, 2], p=[.3, .7])) for letter in "fgH"}

    def operand(self, shape):
        known = [one for one in self.pool if one[1].shape == shape]
        if known and (len(self.pool) > 60 or self.random.random() < 0.6):
            return known[self.random.integers(len(known))]
        dtype = DTYPES[self.random.choice(4, p=[.4, .2, .25, .15])]
        array = self.random.integers(-2, 3, shape).astype(dtype)
        tile = tuple(int(self.random.integers(1, max(2, extent + 1))) for extent in shape)
        presence = "sparse" if array.ndim and self.random.random() < 0.3 else "continuous"
        name = f"t{len(self.pool)}"
        self.db.store(name, ts.relation(array, tile, presence=presence).plan(name))
        self.pool.append((name, array))
        return self.pool[-1]

    def draw(self):
        random = self.random
        texts, operands = [], []
        ellipsis = random.random() < 0.3
        dots = [int(random.choice([1, 2, 3])) for _ in range(2)]
        many = random.random() < 0.15  # as many dimensions as a tensor may have
        for _ in range(random.choice([1, 2, 3, 4, 5, 6], p=[.15, .3, .25, .15, .1, .05])):
            letters = [str(letter) for letter in random.choice(list("abcDEfgH"), random.integers(3, 9), replace=False)
                       ] if many else [str(letter) for letter in random.choice(list("abcDE"), random.integers(0, 4))]
            shape = [self.extents[letter] for letter in letters]
            if len(set(letters)) == len(letters):
                shape = [1 if random.random() < 0.1 else extent for extent in shape]
            text = "".join(letters)
            if ellipsis and len(shape) < 7 and random.random() < 0.7:
                at, count = int(random.integers(0, len(letters) + 1)), int(random.integers(0, 3))
                more = [1 if random.random() < 0.2 else extent for extent in dots[2 - count:]]
                text, shape = text[:at] + "..." + text[at:], shape[:at] + more + shape[at:]
            texts.append(text)
            operands.append(self.operand(tuple(shape)))
        text = ",".join(texts)
        if random.random() < 0.75:
            used = sorted({letter for one in texts for letter in one if letter != "."})
            output = list(random.permutation(used)[:random.integers(0, len(used) + 1)]) if used else []
            if ellipsis:
                output.insert(random.integers(0, len(output) + 1), "...")
            text += "->" + "".join(output)
        if random.random() < 0.12:
            text = self.damaged(text)
        return text, operands

    def damaged(self, text):
        at = int(self.random.integers(0, len(text) + 1))
        change = str(self.random.choice(list("abZ,.1->") + ["->", "..."]))
        return text[:at] + change + text[at + int(self.random.integers(0, 2)):]


def test_random_expressions_are_those_of_numpy(tmp_path):
    random = np.random.default_rng(SEED)
    refused = compared = 0
    for batch in range((EINSUMS + 99) // 100):
        db = ts.connect(tmp_path / f"{batch}.tsdb")
        expressions = Expressions(db, random)
        for number in range(min(100, EINSUMS - 100 * batch)):
            text, operands = expressions.draw()
            try:
                arrays = [array for _, array in operands]
                expected = np.einsum(text, *arrays, dtype=np.result_type(*[array.dtype for array in arrays]))
            except ValueError as error:
                expected = error
            statement = f"CREATE TENSOR r{number} AS einsum('{text}', {', '.join(name for name, _ in operands)})"
            what = f"{statement} with {[(array.shape, str(array.dtype)) for _, array in operands]}"
            if not isinstance(expected, Exception) and np.ndim(expected) > 8:
                continue  # more dimensions than a tensor has
            try:
                db.sql(statement)
                result = db.plan(f"r{number}").run().numpy()
            except (ts.TypeError, ts.ValueError) as error:
                assert isinstance(expected, Exception), f"{what}: {error}"
                refused += 1
                continue
            assert not isinstance(expected, Exception), f"{what} is not refused: {expected}"
            compared += 1
            assert result.dtype == expected.dtype and result.shape == expected.shape, what
            np.testing.assert_allclose(result, expected, rtol=1e-5, err_msg=what)
    assert compared > EINSUMS // 2 and refused > EINSUMS // 50
