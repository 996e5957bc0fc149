"""What does a person see on a real terminal?"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.contrib.auth.models import User
from tenancy.access.keys import device_logins

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.command_line import PATIENCE_SECONDS, PROGRAM, CommandLine
from tests.client.test_submitting import finish

CTRL_C = "\x03"
TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "30"}
ENTER_FULL_SCREEN, LEAVE_FULL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self.text = ""
        self._descriptor = descriptor

    def wait_until_shown(self, *texts: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(text in self.text for text in texts):
            assert time.monotonic() < deadline, f"never shown: {texts}, but {self.text!r}"
            self._read(0.2)

    def end(self) -> int:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"goes on, having shown {self.text!r}"
            self._read(0.05)
        self._read(0.0)
        return self.process.returncode

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def _read(self, seconds: float) -> None:
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return
        with suppress(OSError):  # the other side is closed
            self.text += os.read(self._descriptor, 65536).decode(errors="replace")


@contextmanager
def on_a_terminal(who: CommandLine, *arguments: str | Path) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        (*PROGRAM, *map(str, arguments)),
        env={
            **who.process_environment(),
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            "LINES": "30",
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - single-threaded
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_top_fills_the_screen_until_ctrl_c(concertina: CommandLine, job_file: Path) -> None:
    concertina("submit", "-f", job_file)
    with on_a_terminal(concertina, "top", "--every", "0.2") as screen:
        screen.wait_until_shown(ENTER_FULL_SCREEN, "vision/digits", "queued", "GUARANTEED")
        concertina("pause", "digits")
        screen.wait_until_shown("paused")
        screen.type(CTRL_C)
        assert screen.end() == 0
        assert LEAVE_FULL_SCREEN in screen.text


def test_waiting_on_a_terminal_redraws_its_progress(
    concertina: CommandLine, job_file: Path
) -> None:
    with on_a_terminal(concertina, "submit", "-f", job_file, "--wait") as screen:
        screen.wait_until_shown("queued, 0 workers")
        finish(Job.objects.get(), JobState.COMPLETED)
        assert screen.end() == 0
        assert "completed" in screen.text
        assert screen.text.count("starting → running") == 1


def test_a_page_opens_on_which_one_says_yes(
    stranger: CommandLine, concertina: CommandLine, tmp_path: Path
) -> None:
    url, ada = concertina.environment["CONCERTINA_URL"], User.objects.create_user("ada")
    opening = CommandLine(environment={**stranger.environment, "BROWSER": "true"})
    with on_a_terminal(opening, "login", url) as screen:
        screen.wait_until_shown("the page that opens in your browser")
        code = re.search("Your code: ([A-Z]{4}-[A-Z]{4})", screen.text)
        assert code is not None
        device_logins.confirm(ada, code[1], longest_days=365)
        assert screen.end() == 0
        assert "as ada" in screen.text
        assert "cp_" not in screen.text
    assert (tmp_path / "config/concertina/credentials.json").is_file()
