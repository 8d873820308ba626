"""A short slice of the campaign of stops (`make stops`), with patience for a machine that does other things."""
import pathlib
import subprocess
import sys

from test_shell_statements import PROGRAM

CAMPAIGN = pathlib.Path(__file__).parents[1] / "stops" / "campaign.py"


def test_statements_of_every_kind_are_stopped(tmp_path):
    done = subprocess.run([sys.executable, CAMPAIGN, "--program", PROGRAM, "--folder", tmp_path, "--scale", "0.03",
                           "--stops", "40", "--soon", "5", "--most", "20", "--may-end"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
