"""Raw binary files: nothing but elements, whose shape and dtype are said."""

from array_files import check, db, sample  # noqa: F401


def test_raw_files(db, tmp_path):  # noqa: F811
    x = sample("f4", (11, 6))
    for order, column_major in (("C", False), ("F", True)):
        (tmp_path / "x.raw").write_bytes(x.tobytes(order))
        db.import_file("X", tmp_path / "x.raw", shape=(11, 6), dtype="f32", tile=(4, 4),
                       column_major=column_major)
        check(db, "X", x)
        db.export_file("X", tmp_path / "y.raw", column_major=column_major)
        assert (tmp_path / "y.raw").read_bytes() == x.tobytes(order)
        db.drop("X")
