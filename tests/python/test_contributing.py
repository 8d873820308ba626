"""The checklists of CONTRIBUTING.md name files, functions and commands that there are."""
import fnmatch
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
LINKS = sorted(set(re.findall(r"\]\(([^)]+)\)", TEXT)))
CODE = sorted(set(re.findall(r"`([^`]+)`", TEXT)))
PATHS = [code for code in CODE if re.fullmatch(r"[\w./*]+", code) and re.search(r"/|\.(cpp|h|py)$", code)]
COMMANDS = [code for code in CODE if code.startswith("make ")]
NAMES = sorted({name for code in CODE if code not in PATHS + COMMANDS and '"' not in code
                for name in re.findall(r"[A-Za-z_]\w+", code)})
# `f` in [file](path): the file has it.
PLACED = sorted({(name, path) for names, path in
                 re.findall(r"((?:`[^`]+`[^`.:;\[\]]*)+) (?:in|of)\s+\[[^\]]*\]\(([^)]+)\)", TEXT)
                 for name in re.findall(r"`[^`]*?(\w+)(?:\(\))?`", names)})


def sources():
    folders = ("include", "src", "tests", "python")
    return [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp")]


@pytest.mark.parametrize("path", LINKS)
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", PATHS)
def test_files_that_are_named_exist(path):
    assert list(ROOT.glob(path))


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_sources_that_other_pages_name_exist(page):
    """They may leave out the folders above."""
    named = set(re.findall(r"`([\w./*]+\.(?:cpp|h|py))`", page.read_text()))
    folders = ("src", "include", "tests", "python", "bench", "examples", "scripts")
    there = {str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*")}
    assert [name for name in named
            if not any(fnmatch.fnmatch("/" + path, "*/" + name) for path in there)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_targets(command):
    assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.M)


def test_functions_and_types_that_are_named_exist():
    code = "\n".join(path.read_text() for path in sources())
    words = set(re.findall(r"\w+", code))
    assert len(NAMES) > 15
    assert [name for name in NAMES if name not in words] == []


@pytest.mark.parametrize("name, path", PLACED)
def test_functions_are_in_the_file_that_is_said_to_have_them(name, path):
    assert re.search(rf"\b{name}\b", (ROOT / path).read_text())


def test_the_path_of_a_statement_is_short_and_goes_one_way():
    """Each folder is listed once, with files of its own; from the text to the product they are at most 25."""
    page = (ROOT / "docs/development.md").read_text()
    table = page[page.index("| folder | what happens there"):].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    folders = [row[0].strip("`") for row in rows]
    assert len(set(folders)) == len(folders)
    files = [(folder, name) for folder, row in zip(folders, rows) for name in re.findall(r"`([\w/.]+)`", row[2])]
    assert 15 <= len(files) <= 25
    for folder, name in files:
        assert (ROOT / "src" / folder / name).exists(), (folder, name)
