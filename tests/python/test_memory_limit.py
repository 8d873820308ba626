"""A slice of the campaign of statements that were built to exceed their memory (tests/memory): each in a
process of its own, whose peak the kernel tells."""
import pathlib
import subprocess
import sys

import tessera as ts

CAMPAIGN = pathlib.Path(__file__).resolve().parents[1] / "memory" / "campaign.py"
PROGRAM = pathlib.Path(ts.__file__).resolve().parents[2] / "tessera"


def test_statements_stay_below_their_limit_or_are_refused():
    done = subprocess.run(
        [sys.executable, CAMPAIGN, "--program", PROGRAM, "--every", "12"],
        capture_output=True, text=True, check=False, timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
