"""What `cmake --install` puts below a prefix, after the prefix was moved: nothing needs the build."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import test_cluster
from test_shell_statements import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = PROGRAM.parent
EXAMPLE = ROOT / "examples" / "find_package"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=240, **options)


def done(*command, **options):
    ended = run(*command, **options)
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    done("cmake", "--install", BUILD, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture
def program(tmp_path):
    """The example, in a folder outside of this one."""
    return pathlib.Path(shutil.copytree(EXAMPLE, tmp_path / "program"))


def library_folder(prefix):
    [library] = prefix.glob("lib/**/libtessera.so")
    return library.parent


def test_a_program_finds_the_library(prefix, program):
    build = program / "build"
    done("cmake", "-S", program, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    done("cmake", "--build", build)
    assert done(build / "product", env={}) == "[[ 7. 10.]\n [15. 22.]]\n"
    linked = done("ldd", build / "product")
    assert str(library_folder(prefix)) in linked and str(BUILD) not in linked


def test_a_program_that_wants_a_later_version_is_told(prefix, program):
    wants = program / "CMakeLists.txt"
    wants.write_text(wants.read_text().replace("tessera 0.1", "tessera 9.9"))
    ended = run("cmake", "-S", program, "-B", program / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert ended.returncode != 0
    assert re.search(r"compatible\s+with\s+requested\s+version\s+\"9\.9\"", ended.stdout), ended.stdout


def test_each_header_includes_what_it_uses(prefix):
    headers = sorted((prefix / "include" / "tessera").glob("*.h"))
    assert len(headers) > 10
    for header in headers:
        done("g++", "-std=c++20", "-fsyntax-only", f"-I{prefix / 'include'}", "-include", f"tessera/{header.name}",
             "-x", "c++", os.devnull)


def test_nothing_installed_names_the_build(prefix):
    texts = [*prefix.glob("lib/**/*.cmake"), *prefix.glob("include/**/*.h")]
    binaries = [prefix / "bin" / "tessera", *prefix.glob("lib/**/*.so")]
    assert len(texts) > 10 and len(binaries) >= 3
    for text in texts:
        assert str(ROOT) not in text.read_text(), text
    for binary in binaries:
        assert str(ROOT) not in done("readelf", "-d", binary), binary


def test_the_shell_runs(prefix):
    printed = done(prefix / "bin" / "tessera", "--format", "csv", "-c", "SELECT 1+1 AS two", env={})
    assert printed == "two\n2\n"


def test_the_python_module_is_the_installed_one(prefix):
    modules = prefix / "lib" / "python3" / "dist-packages"
    said = done(sys.executable, "-c", "import tessera as ts; print(ts.__file__, ts.Tile.zeros([2]))",
                env={"PYTHONPATH": str(modules)})
    assert said.startswith(str(modules))


@test_cluster.pytestmark
def test_the_plug_in_is_found(prefix):
    ended = test_cluster.run(2, prefix / "bin" / "tessera", "--format", "csv", "-c",
                             "SELECT 1+1 AS two", TESSERA_PLUGINS="")
    assert (ended.returncode, ended.stdout) == (0, "two\n2\n"), ended.stderr
    # Where it is not, the message says where it was looked for.
    (library_folder(prefix) / "tessera").rename(prefix / "elsewhere")
    try:
        ended = test_cluster.run(1, prefix / "bin" / "tessera", "-c", "SELECT 1")
        assert str(library_folder(prefix) / "tessera" / "libtessera_mpi.so") in ended.stderr
    finally:
        (prefix / "elsewhere").rename(library_folder(prefix) / "tessera")


def test_licence_and_documentation(prefix):
    share = prefix / "share" / "doc" / "tessera"
    assert "Apache License" in (share / "copyright").read_text()
    assert (share / "docs" / "sql.md").exists()
