"""What becomes of a person's own terminal, and which commands can be sent at all?"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from concertina.commands.shells import execute
from concertina.errors import BadInput

GIVEN_OVER = """
import os, signal
from concertina.commands.shells import window
with window.given_over(is_terminal=True):
    os.write(1, b"raw")
    while True:
        signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_as_it_was_when_the_command_line_is_told_to_end(number: int) -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with subprocess.Popen(
        (sys.executable, "-c", GIVEN_OVER), stdin=theirs, stdout=theirs, start_new_session=True
    ) as process:
        assert os.read(ours, 3) == b"raw"
        assert termios.tcgetattr(theirs) != before
        process.send_signal(number)
        code = process.wait()
    after = termios.tcgetattr(theirs)
    os.close(ours)
    os.close(theirs)

    assert (code, after) == (128 + number, before)


def test_a_word_that_is_no_text_is_refused_in_words() -> None:
    with pytest.raises(BadInput, match=r"'\\udcff' is not UTF-8"):
        execute._check(["cat", os.fsdecode(b"\xff")])  # noqa: SLF001 - all before a service is asked
    execute._check(["cat", "", "ü"])  # noqa: SLF001
