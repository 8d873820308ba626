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

SQL over tables and tensors::

    >>> db = ts.connect()
    >>> _ = db.sql("CREATE TABLE t (i INT, m MATRIX[2][2])")
    >>> _ = db.sql("INSERT INTO t VALUES (?, ?)", [0, np.eye(2)])
    >>> db.sql("SELECT i, sum_elements(m) AS total FROM t").fetchall()
    [(0, 2.0)]
"""

from ._tessera import (
    ClusterError, Database, Error, FileProgress, InternalError, Interrupted, IoError, Kernel, OutOfMemory, ParseError, Placement, Plan,
    PlanError, Progress, Relation, Result, Session, StatementError, Tile, TypeError, ValueError, closedness,
    formats, kernel_aliases, kernel_names, kernel_reference, set_cluster_timeout)
from . import kernels

__all__ = [
    "ClusterError", "Database", "Error", "FileProgress", "InternalError", "Interrupted", "IoError", "Kernel", "OutOfMemory", "ParseError",
    "Placement", "Plan", "PlanError", "Progress", "Relation", "Result", "Session", "StatementError", "Tile",
    "TypeError", "ValueError", "closedness", "connect", "formats", "kernel_aliases", "kernel_names",
    "kernel_reference", "kernels", "relation", "set_cluster_timeout", "sql"]


def connect(folder=None, **options):
    """Opens the database in a folder, and creates it if it does not exist; without a folder, a temporary one.

    The options are those of Database.
    """
    if folder is None:
        return Database.temporary(**options)
    return Database(folder, **options)


def sql(text, values=None, *, progress=None):
    """Executes statements in a temporary database that all calls in the process share. See Session.sql."""
    global _session
    if _session is None:
        _session = Database.temporary().session()
    return _session.sql(text, values, progress=progress)


_session = None


def relation(tensor, tile, presence="continuous"):
    """Cuts a tensor (NumPy array, SciPy sparse matrix or tile) into tiles of a shape. Returns a Relation."""
    return Relation.from_array(tensor, tile, presence)
