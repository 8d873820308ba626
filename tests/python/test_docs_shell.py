"""Examples of the shell in the documentation: commands, and what is typed at the prompt."""
import os
import re
import subprocess

import pytest

from terminal import Terminal
from test_docs import BLOCK, PAGES
from test_shell_statements import PROGRAM

PROMPT = re.compile(r"^(tessera> |    \.\.\.> )(.*)$")


def same(said, text):
    """Whether this is what the page says, where … stands for what varies, such as a time; in lines with one, several
    blanks are as good as one."""
    if said.count("\n") != text.count("\n"):
        return False
    for line, expected in zip(said.split("\n"), text.split("\n")):
        if "…" in expected:
            line, expected = re.sub(" +", " ", line), re.sub(" +", " ", expected)
        if not re.fullmatch(re.escape(expected).replace("…", ".*"), line):
            return False
    return True


def blocks_of(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_print_what_follows_them(page, tmp_path):
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    for text in blocks_of(page, "console"):
        printed = ""
        for line in text.splitlines():
            if line.startswith("$ "):
                ended = subprocess.run(["bash", "-c", line[2:]], cwd=tmp_path, env=environment, timeout=120,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
                printed += line + "\n" + ended.stdout.decode().replace("\r\n", "\n")
        assert printed == text


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_prompt_answers_as_the_page_says(page, tmp_path, monkeypatch):
    texts = blocks_of(page, "tessera")
    if not texts:
        return
    monkeypatch.chdir(tmp_path)
    environment = {"TESSERA_HISTORY": "", "NO_COLOR": "1"}
    with Terminal([PROGRAM], columns=150, environment=environment) as terminal:  # one for all of a page
        terminal.expect("tessera> ")
        for text in texts:
            lines = [PROMPT.match(line) for line in text.splitlines()]
            typed = [match for match in lines if match]
            said = ""
            for this, following in zip(typed, [*typed[1:], None]):
                terminal.type(this[2] + "\r")
                prompt = following[1] if following else "tessera> "
                answer = terminal.expect("\n" + prompt)
                said += this[1] + answer[:-len(prompt)]
            if not same(said, text):
                assert said == text
        terminal.type("\x04")
        assert terminal.ends()[0] == 0
