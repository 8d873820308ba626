"""The transcripts of a page of documentation: commands, and what is typed at the prompt.

A ```console block has commands that follow a $, each in a shell of its own. A ```tessera block has what is
typed at the prompt of `tessera`, which is one for all blocks up to one that begins with `$ tessera ...`: that
starts another. All of a page happens in one folder, in the order of the page. In an answer … stands for what
varies.
"""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys

from terminal import Terminal

BLOCK = re.compile(r"^```(console|tessera)\n(.*?)^```$", re.M | re.S)
PROMPT = re.compile(r"^(tessera> |    \.\.\.> )(.*)$")
COLUMNS = 150  # a line that is typed has to be shorter, lest it be broken on its way


class Prompt:
    """The program at a terminal, which is started by the first line that needs it."""

    def __init__(self, program, folder):
        self.__program, self.__folder, self.__terminal = program, folder, None

    def start(self, arguments):
        """Returns what the program says before the first prompt."""
        self.close()
        environment = {"TESSERA_HISTORY": "", "NO_COLOR": "1"}
        self.__terminal = Terminal([self.__program, *arguments], columns=COLUMNS, patience=120,
                                   environment=environment, cwd=self.__folder)
        return self.__terminal.expect("tessera> ")[:-len("tessera> ")]

    def answer(self, text, next_prompt):
        """What stays to be seen after a line was typed, its echo included, up to the next prompt."""
        assert len(text) < COLUMNS - 10, f"too long to be typed: {text}"
        self.__terminal.type(text + "\r")
        said = self.__terminal.expect("\n" + next_prompt)[:-len(next_prompt)]
        return re.sub(r"[^\n]*\r", "", said)  # how far a statement is, which is wiped

    def run(self, block):
        lines = block.splitlines()
        said = ""
        if lines and lines[0].startswith("$ tessera"):
            said = lines[0] + "\n" + self.start(shlex.split(lines[0])[2:])
        elif self.__terminal is None:
            self.start([])
        typed = [match for match in map(PROMPT.match, lines) if match]
        for this, following in zip(typed, [*typed[1:], None]):
            said += this[1] + self.answer(this[2], following[1] if following else "tessera> ")
        return said

    def close(self):
        if self.__terminal is None:
            return
        with self.__terminal as terminal:
            terminal.type("\x04")
            status, said = terminal.ends()
            assert status == 0, said
        self.__terminal = None


def commands(block, program, folder):
    path = f"{program.parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # the Python that has NumPy
    environment = {**os.environ, "PATH": path}
    said = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            ended = subprocess.run(["bash", "-c", line[2:]], cwd=folder, env=environment, timeout=300,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
            said += line + "\n" + ended.stdout.decode().replace("\r\n", "\n")
    return said


def pattern(line):
    """Of a line with …, which stands for what varies, such as a time; several blanks are as good as one."""
    return re.compile(re.escape(re.sub(" +", " ", line)).replace("…", ".*"))


def with_dots(said, block):
    """What is said, in the words of the page where it has …: there columns may be wider or narrower too."""
    if "…" not in block:
        return said
    patterns = [(pattern(line), line) for line in block.split("\n")]

    def as_written(line):
        plain = re.sub(" +", " ", line)
        return next((written for found, written in patterns if found.fullmatch(plain)), line)

    return "\n".join(map(as_written, said.split("\n")))


def replayed(text, program, folder):
    """The blocks of a page: what it says, and what is said now."""
    with contextlib.closing(Prompt(program, folder)) as prompt:
        return [(block, with_dots(prompt.run(block) if kind == "tessera"
                                  else commands(block, program, folder), block))
                for kind, block in BLOCK.findall(text)]
