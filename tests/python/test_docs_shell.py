"""Examples of the shell in the documentation: commands, and what is typed at the prompt."""
import pytest

from test_docs import PAGES
from test_shell_statements import PROGRAM
from transcripts import replayed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_transcripts_are_what_is_said_now(page, tmp_path):
    for written, said in replayed(page.read_text(), PROGRAM, tmp_path):
        assert said == written, "if that is as it should be, run `make docs`"
