"""scripts/check_layers refuses what its layers forbid: tried on copies of src/ with one line more."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(root):
    done = subprocess.run([ROOT / "scripts/check_layers", root], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path):
    for folder in ("src", "include", "python/src"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_the_project_itself_has_no_forbidden_edge(project):
    assert check(project) == (0, "\nlayers: 0 wrong\n")


@pytest.mark.parametrize("file, line, said", [
    ("src/tile/tile.cpp", '#include "exec/engine.h"', "tile includes exec/engine.h of exec"),
    ("src/tile/tile.cpp", '#  include "exec/engine.h"', "tile includes exec/engine.h of exec"),
    ("src/tile/tile.cpp", '#include "../exec/engine.h"', "includes begin at src/ or include/"),
    ("src/ia/fuse.cpp", '#include "tra/../exec/engine.h"', "includes begin at src/ or include/"),
    ("src/ia/fuse.cpp", '#include "elsewhere/engine.h"', "elsewhere/engine.h is of no folder of src/"),
    ("src/ia/fuse.cpp", '#include "tessera/run.h"', "ia includes run.h of exec"),
    ("src/query/rows/cell.cpp", '#include "query/binding/binder.h"', "query/rows includes query/binding/binder.h"),
    ("src/exec/run.cpp", "Tile some(const Tile& tile) { return tile; }\n"
                         "namespace tessera {\nstd::string bytes_text(double) { return {}; }\n}",
     "bytes_text is declared in base and defined here"),
    ("src/base/bytes.cpp", '#include "tessera/tessera.h"', "tessera.h is not for use inside src/"),
    ("python/src/tiles.cpp", '#include "query/rows/cell.h"', "python includes query/rows/cell.h of query/rows"),
    ("src/shell/main.cpp", '#include "python/bindings.h"', "shell includes python/bindings.h of python"),
    ("src/session/jobs.cpp", "bool several() { return exec::cluster_of_process() != nullptr; }",
     "the cluster of the process is not asked for here"),
    ("src/session/jobs.cpp", "bool several() { return cluster_info().size > 1; }",
     "cluster_info is called without the options"),
    ("src/database/import.cpp", "const auto limit = exec::memory_limit_of({});",
     "memory_limit_of is called without the options"),
])
def test_what_is_forbidden_is_said_with_its_line(project, file, line, said):
    path = project / file
    before = path.read_text()
    path.write_text(before + line + "\n")
    status, text = check(project)
    assert status == 1
    assert f"{file}:" in text and said in text


def test_a_folder_that_is_not_listed_is_refused(project):
    (project / "src/misc").mkdir()
    (project / "src/misc/all.cpp").write_text("")
    status, text = check(project)
    assert status == 1 and "src/misc/all.cpp: unknown folder" in text


def test_a_folder_of_python_that_is_not_listed_is_refused(project):
    (project / "python/src/misc").mkdir()
    (project / "python/src/misc/all.cpp").write_text("")
    status, text = check(project)
    assert status == 1 and "python/src/misc/all.cpp: unknown folder" in text


@pytest.mark.parametrize("folder, header, said", [
    ("src/tra", '"key/', "scripts/check_layers: tra includes nothing of key"),
    ("python/src", '"display/', "scripts/check_layers: python includes nothing of display"),
])
def test_what_is_listed_and_not_included_is_told(project, folder, header, said):
    for path in (project / folder).iterdir():
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if header not in line and '"tessera/key.h"' not in line))
    status, text = check(project)
    assert status == 1 and said in text
