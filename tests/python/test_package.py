"""What `make package` writes: packages for Debian, whose shell runs wherever they are unpacked."""
import shutil
import subprocess

import pytest

from test_shell_statements import PROGRAM

BUILD = PROGRAM.parent


def done(*command, **options):
    ended = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=240, **options)
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def packages_in(folder):
    """Writes the packages, as `make package` does: by their names. Most of its time is compression."""
    done("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder,
         "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def contents(package):
    return {line.split()[5].removeprefix("./") for line in done("dpkg-deb", "-c", package).splitlines()}


def field(package, name):
    return done("dpkg-deb", "-f", package, name).strip()


def expect_each_part_in_its_package(packages):
    has_mpi = (BUILD / "libtessera_mpi.so").exists()
    assert set(packages) == {"tessera", "python3-tessera", *(["tessera-mpi"] if has_mpi else [])}
    inside = {name: contents(package) for name, package in packages.items()}
    assert {"usr/bin/tessera", "usr/include/tessera/tessera.h", "usr/share/doc/tessera/copyright",
            "usr/share/doc/tessera/docs/sql.md"} <= inside["tessera"]
    for file, owner in (("/libtessera.so", "tessera"), ("/tesseraConfig.cmake", "tessera"),
                        ("/dist-packages/tessera/__init__.py", "python3-tessera"),
                        *([("/tessera/libtessera_mpi.so", "tessera-mpi")] if has_mpi else [])):
        assert [name for name, paths in inside.items() for path in paths if path.endswith(file)] == [owner], file
    # apt would refuse a file that is in two packages.
    files = [path for paths in inside.values() for path in paths if not path.endswith("/")]
    assert len(files) == len(set(files)) and all(file.startswith("usr/") for file in files)


def expect_what_they_need_is_named(packages):
    assert "libc6" in field(packages["tessera"], "Depends")
    version = field(packages["tessera"], "Version")
    for name in set(packages) - {"tessera"}:
        assert f"tessera (= {version})" in field(packages[name], "Depends")


def expect_the_shell_runs_where_it_is_unpacked(packages, folder):
    done("dpkg-deb", "-x", packages["tessera"], folder)
    program = folder / "usr" / "bin" / "tessera"
    linked = done("ldd", program, env={})
    assert str(folder / "usr") in linked  # its own library
    assert "not found" not in linked and str(BUILD) not in linked
    assert done(program, "--format", "csv", "-c", "SELECT 1+1 AS two", env={}) == "two\n2\n"


@pytest.mark.skipif(not (shutil.which("cpack") and shutil.which("dpkg-deb")),
                    reason="cpack and dpkg-deb make packages")
def test_packages(tmp_path):  # one test, as each process of pytest would write them again
    packages = packages_in(tmp_path / "packages")
    expect_each_part_in_its_package(packages)
    expect_what_they_need_is_named(packages)
    expect_the_shell_runs_where_it_is_unpacked(packages, tmp_path / "root")
