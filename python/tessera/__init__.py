"""Tessera: a tensor-relational database.

Tiles and kernels::

    >>> import numpy as np, tessera as ts
    >>> a = ts.Tile(np.eye(2))
    >>> print(ts.kernels.matmul(a, [[1.0, 2.0], [3.0, 4.0]]))
    [[1. 2.]
     [3. 4.]]

Relations and the tensor relational algebra::

    >>> r = ts.relation(np.arange(16.0).reshape(4, 4), tile=(2, 2))
    >>> product = r.plan("A").join(r.plan("A"), [1], [0], "matmul").aggregate([0, 2], "add")
    >>> bool(np.array_equal(product.run().numpy(), np.arange(16.0).reshape(4, 4) @ np.arange(16.0).reshape(4, 4)))
    True
"""

from ._tessera import (
    ClusterError, Database, Error, FileProgress, InternalError, Interrupted, IoError, Kernel, OutOfMemory, ParseError, Placement, Plan,
    PlanError, Progress, Relation, Tile, TypeError, ValueError, closedness, formats, kernel_aliases,
    kernel_names, kernel_reference)
from . import kernels

__all__ = [
    "ClusterError", "Database", "Error", "FileProgress", "InternalError", "Interrupted", "IoError", "Kernel", "OutOfMemory", "ParseError",
    "Placement", "Plan", "PlanError", "Progress", "Relation", "Tile", "TypeError", "ValueError",
    "closedness", "connect", "formats", "kernel_aliases", "kernel_names", "kernel_reference", "kernels", "relation"]


def connect(folder, **options):
    """The database in a folder, which is made if it is not there."""
    return Database(folder, **options)


def relation(tensor, tile, presence="continuous"):
    """A tensor (NumPy array, SciPy sparse matrix or tile) cut into tiles of a shape."""
    return Relation.from_array(tensor, tile, presence)
