"""Random parts of random tensors against NumPy's. SLICES=n and SEED=n make a campaign of it."""
import os
import random

import numpy as np
import tessera as ts

SLICES = int(os.environ.get("SLICES", "300"))
SEED = int(os.environ.get("SEED", "1"))
DTYPES = [np.float64, np.float32, np.int64, np.bool_]


def tensor(rng, draw):
    shape = tuple(draw.choice([1, 2, 5, 7, 10]) for _ in range(draw.randint(1, 3)))
    array = rng.integers(0, 99, shape) * (rng.random(shape) < draw.choice([0.3, 1]))
    tile = tuple(draw.randint(1, extent) for extent in shape)
    return array.astype(draw.choice(DTYPES)), tile, draw.choice(["sparse", "continuous"])


def part(shape, draw):
    """Indices, and their text."""
    index, text = [], []
    for extent in shape[:draw.randint(1, len(shape))]:
        if draw.random() < 0.3:
            index.append(draw.randint(-extent - (draw.random() < 0.1), extent - 1))
            text.append(str(index[-1]))
            continue
        bounds = [draw.choice([None, draw.randint(-extent - 2, extent + 2)]) for _ in range(2)]
        step = draw.choice([None, None, 1, 2, 3, -1, -2])
        index.append(slice(*bounds, step))
        text.append(":".join("" if bound is None else str(bound) for bound in [*bounds, step][:2 + (step is not None)]))
    if draw.random() < 0.2:
        at = draw.randint(0, len(index))
        index.insert(at, ...)
        text.insert(at, "...")
    return tuple(index), ", ".join(text)


def test_random_parts_are_those_of_numpy(tmp_path):
    rng, draw = np.random.default_rng(SEED), random.Random(SEED)
    db = ts.connect(tmp_path / "slices.tsdb")
    refused = 0
    for number in range(SLICES):
        if number % 10 == 0:
            array, tile, presence = tensor(rng, draw)
            db.store(f"X{number}", ts.relation(array, tile, presence=presence).plan("X"))
            name = f"X{number}"
        index, text = part(array.shape, draw)
        what = f"{name}[{text}] of {array.shape} in tiles of {tile}, {presence}"
        try:
            expected = array[index]
        except IndexError:
            expected = None
        try:
            db.sql(f"CREATE TENSOR r{number} AS {name}[{text}]")
        except ts.TypeError as error:
            assert expected is None, f"{what}: {error}"
            refused += 1
            continue
        assert expected is not None, f"{what} is not refused"
        found = db.plan(f"r{number}").run().numpy()
        assert found.shape == expected.shape and found.dtype == expected.dtype, what
        np.testing.assert_array_equal(found, expected, err_msg=what)
    assert 0 < refused < SLICES / 4
