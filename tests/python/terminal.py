"""A program at a pseudo-terminal: what it shows, and somebody who types."""
import bisect
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z@]|\x1b[=>]")


class Terminal:
    """All waits end after `patience` seconds, which a busy machine may need."""

    def __init__(self, command, columns=80, patience=60, environment=None, **options):
        here, there = pty.openpty()
        self.descriptor, self.patience, self.said, self.seen = here, patience, "", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.resize(columns)
        streams = {"stdin": there, "stdout": there, "stderr": there, **options}
        self.program = subprocess.Popen(
            list(map(str, command)), start_new_session=True, preexec_fn=self.__take_terminal,
            env={**os.environ, "TERM": "xterm", "EDITRC": "/dev/null", **(environment or {})}, **streams)
        os.close(there)

    @staticmethod
    def __take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGKILL)
        self.program.wait(timeout=self.patience)
        os.close(self.descriptor)

    def resize(self, columns):
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def __read(self, seconds):
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.descriptor, 65536)
        except OSError:  # the other end is closed
            return False
        self.said += self.decoder.decode(piece)  # a read may end within a character
        return bool(piece)

    @staticmethod
    def __plain(text):
        return re.sub("\r+\n", "\n", ESCAPES.sub("", text))

    def expect(self, what):
        """Waits for a text, escapes left out; returns what came since the last time, up to it."""
        end = time.monotonic() + self.patience
        while what not in (plain := self.__plain(self.said[self.seen:])):
            if time.monotonic() > end or not self.__read(0.2):
                raise AssertionError(f"{what!r} did not come, but {plain[-2000:]!r}")
        # What came behind it is for whoever waits next, however much one read has brought.
        ends = range(self.seen, len(self.said) + 1)
        self.seen = ends[bisect.bisect_left(ends, True, key=lambda end: what in self.__plain(self.said[self.seen:end]))]
        return plain[:plain.index(what) + len(what)]

    def run(self, text, prompt="tessera> "):
        """Types a line, and returns what came until the next prompt."""
        self.type(text + "\r")
        return self.expect("\n" + prompt)

    def ends(self):
        """The exit status, and all that was said."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end and self.__read(0.2):
            pass
        return self.program.wait(timeout=self.patience), self.said
