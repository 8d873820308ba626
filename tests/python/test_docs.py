"""Every example in the documentation runs and prints what the page says it prints."""
import contextlib
import io
import pathlib
import re
import subprocess
import sys

import pytest

import tessera as ts

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_run_and_print_what_follows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed = {}, None
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(page), "exec"), names)
            printed = [line.rstrip() for line in output.getvalue().strip().splitlines()]
        elif language == "text" and printed is not None:
            assert printed == [line.rstrip() for line in text.strip().splitlines()]
            printed = None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_cpp_blocks_are_parts_of_the_examples_that_the_build_compiles(page):
    examples = "\n".join(path.read_text() for path in (ROOT / "examples").rglob("*.cpp"))
    squeezed = re.sub(r"\s+", "", examples)
    for language, text in BLOCK.findall(page.read_text()):
        if language == "cpp":
            assert re.sub(r"\s+", "", text) in squeezed, text


def test_the_build_of_a_program_that_uses_the_library_is_the_example():
    blocks = [text for language, text in BLOCK.findall((ROOT / "docs" / "install.md").read_text())
              if language == "cmake"]
    assert blocks == [(ROOT / "examples" / "find_package" / "CMakeLists.txt").read_text()]


def test_the_plan_on_the_page_of_clusters_is_the_one_of_its_command():
    page = (ROOT / "docs" / "cluster.md").read_text()
    (command,) = [line for line in page.splitlines() if "--explain --sites" in line]
    program, *arguments = command.split()
    build = pathlib.Path(ts.__file__).resolve().parents[2]
    printed = subprocess.run([build / "examples" / pathlib.Path(program).name, *arguments], check=True,
                             text=True, stdout=subprocess.PIPE, timeout=120).stdout
    shown = next(text for language, text in BLOCK.findall(page) if language == "text")
    assert printed.startswith(shown + "\n")


def test_the_first_program_of_the_readme_is_the_example():
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    program = next(text for language, text in blocks if language == "python")
    assert program == (ROOT / "examples" / "multiply.py").read_text()


def test_the_kernel_reference_is_up_to_date():
    generated = subprocess.run([sys.executable, str(ROOT / "scripts" / "kernel_reference")],
                               check=True, text=True, stdout=subprocess.PIPE).stdout
    assert (ROOT / "docs" / "kernels.md").read_text() == generated, "run `make docs`"


def test_every_kernel_has_an_example_under_its_name():
    page = (ROOT / "docs" / "kernels.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    for kernel in ts.kernel_reference():
        assert re.search(r"^- `SELECT .*` yields `.*`$", sections[kernel["name"]], re.M), kernel["name"]
    for alias in ts.kernel_aliases():
        assert f"`{alias}`" in page, alias


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        prose = BLOCK.sub("", page.read_text())
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
