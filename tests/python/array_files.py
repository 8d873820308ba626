"""What the tests of files of arrays share: arrays of every kind, and how malformed files are refused."""
import struct

import numpy as np
import pytest
import tessera as ts

KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
SHAPES = [(), (0,), (1,), (7,), (1, 9), (9, 1), (0, 4), (4, 0), (6, 8), (7, 5), (3, 4, 5), (2, 1, 3, 2),
          (2, 2, 2, 1, 2, 1, 2, 3)]


def tile_of(shape, extent=3):
    return tuple(max(1, min(extent, n)) for n in shape) or None


@pytest.fixture
def db(tmp_path):
    return ts.connect(tmp_path / "lab.tsdb")


def sample(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        return np.asarray(random.normal(size=shape) * 100).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, min(info.max, 2**63 - 1), shape, dtype=dtype.newbyteorder("="),
                           endpoint=True).astype(dtype)


def expected_dtype(dtype):
    kind = np.dtype(dtype)
    return {"b": bool, "i": np.int64, "u": np.int64}.get(kind.kind) or (
        np.float64 if kind.itemsize == 8 else np.float32)


def check(db, name, array):
    read = db.read(name).numpy()
    assert read.shape == array.shape and read.dtype == expected_dtype(array.dtype)
    assert np.array_equal(read, array.astype(read.dtype))
    assert db.info(name)["shape"] == array.shape


def npy(header, data=b"", version=1, length=None, magic=b"\x93NUMPY"):
    text = header if isinstance(header, bytes) else header.encode()
    length = len(text) if length is None else length
    size = struct.pack("<H", length) if version == 1 else struct.pack("<I", length)
    return magic + bytes([version, 0]) + size + text + data


def head(descr="'<f8'", order="False", shape="(2, 2)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def flipped(data, at):
    data = bytearray(data)
    data[at] ^= 0xFF
    return bytes(data)


def expect_refused(db, tmp_path, name, data, reason):
    """A file with these bytes is refused for this reason, and leaves nothing behind."""
    path = tmp_path / name
    path.write_bytes(data)
    db.store("A", ts.relation(np.ones((4, 4)), tile=(2, 2)))
    segments = tmp_path / "lab.tsdb" / "segments"
    before = {file.name: file.read_bytes() for file in segments.iterdir()}
    with pytest.raises(ts.Error, match=reason) as caught:
        db.import_file("X", path, tile=None)
    assert name in str(caught.value)
    assert not isinstance(caught.value, ts.InternalError)
    assert db.list() == ["A"]
    assert {file.name: file.read_bytes() for file in segments.iterdir()} == before
