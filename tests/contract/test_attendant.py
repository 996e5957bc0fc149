"""What does the attendant do with a command? Here it is told by its pipes, as a host tells it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.shells import attendant
from cluster.shells.program import ATTENDANT

from tests.contract.conftest import until


class Told:
    """An attendant, and what it has told so far."""

    def __init__(self, program: str = ATTENDANT) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-I", "-c", program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin"},
        )
        self.frames = attendant.ShellFrames()
        self.output, self.errors, self.taken, self.end = b"", b"", 0, dict[str, Any]()

    def tell(self, kind: bytes, payload: bytes = b"") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(attendant.packed(kind, payload))
        self.process.stdin.flush()

    def start(self, *command: str, is_terminal: bool = False) -> None:
        wanted = {"command": command, "is_terminal": is_terminal, "rows": 33, "columns": 111}
        self.tell(attendant.START, json.dumps(wanted).encode())

    def hear(self) -> bool:
        """Take what comes next; False: that was all."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        for kind, payload in self.frames.feed(data):
            if kind == attendant.OUTPUT:
                self.output += payload
            elif kind == attendant.ERRORS:
                self.errors += payload
            elif kind == attendant.TAKEN:
                self.taken += int(payload)
            else:
                self.end = json.loads(payload)
        return bool(data)

    def hear_until(self, words: bytes) -> None:
        while words not in self.output:
            assert self.hear(), self.output

    def hear_all(self) -> None:
        while self.hear():
            pass


@pytest.fixture
def told() -> Iterator[Told]:
    one = Told()
    yield one
    one.process.kill()
    with one.process:
        pass


def test_output_errors_and_the_exit_status_come_back_apart(told: Told) -> None:
    told.start("sh", "-c", "echo out; echo err >&2; exit 3")
    told.hear_all()

    assert (told.output, told.errors, told.end) == (b"out\n", b"err\n", {"exit_code": 3})


def test_what_is_piped_in_reaches_the_command_to_its_end(told: Told) -> None:
    told.start("wc", "-c")
    for _ in range(3):
        told.tell(attendant.INPUT, b"x" * 10_000)
    told.tell(attendant.END_OF_INPUT)
    told.hear_all()

    assert (told.output.strip(), told.taken) == (b"30000", 30_000)


def test_a_command_that_reads_nothing_does_not_keep_the_attendant_from_listening(
    told: Told,
) -> None:
    told.start("sleep", "600")
    for _ in range(8):
        told.tell(attendant.INPUT, b"x" * 32_768)
    told.tell(attendant.SIGNAL, b"TERM")
    told.hear_all()

    assert told.end == {"exit_code": 128 + 15}


def test_a_terminal_has_the_size_of_the_window_and_takes_ctrl_c(told: Told) -> None:
    told.start("sh", "-c", "trap 'stty size; exit 7' INT; stty size; read line", is_terminal=True)
    told.hear_until(b"33 111")
    told.tell(attendant.SIZE, json.dumps({"rows": 50, "columns": 90}).encode())
    told.tell(attendant.INPUT, b"\x03")
    told.hear_all()

    assert b"50 90" in told.output
    assert told.end == {"exit_code": 7}


@pytest.mark.parametrize("is_terminal", [True, False])
def test_when_the_client_is_gone_all_ends_that_the_command_started(
    told: Told, tmp_path: Path, *, is_terminal: bool
) -> None:
    script = (
        "trap '' HUP TERM INT; (setsid sh -c 'trap \"\" HUP TERM; echo $$ > deaf; sleep 600' &);"
        f" cd {tmp_path}; (setsid sh -c 'echo $$ > orphan; exec sleep 600' &) ; echo up; sleep 600"
    ).replace("> deaf", f"> {tmp_path}/deaf")
    told.start("sh", "-c", script, is_terminal=is_terminal)
    told.hear_until(b"up")
    pids = [int(until(lambda name=name: written(tmp_path / name))) for name in ("deaf", "orphan")]
    assert told.process.stdin is not None
    told.process.stdin.close()
    told.hear_all()
    told.process.wait()

    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_whoever_reads_slowly_hears_the_last_words_of_a_command_that_has_ended(
    tmp_path: Path,
) -> None:
    quick = ATTENDANT.replace("_LAST_WORDS_SECONDS = 1.0", "_LAST_WORDS_SECONDS = 0.01")
    told = Told(quick)
    with told.process:
        assert told.process.stdout is not None
        fcntl.fcntl(told.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        told.start("sh", "-c", f"head -c 70000 /dev/zero; touch {tmp_path}/written; exit 2")
        until((tmp_path / "written").exists)
        while children_of(told.process.pid):
            told.hear()
        is_late_at = time.monotonic() + 0.1
        until(lambda: time.monotonic() > is_late_at)
        told.hear_all()

    assert (len(told.output), told.end) == (70_000, {"exit_code": 2})


def test_a_frame_that_is_too_large_ends_it(told: Told) -> None:
    told.start("sleep", "600")
    assert told.process.stdin is not None
    told.process.stdin.write(attendant.HEAD.pack(attendant.INPUT, attendant.LARGEST_FRAME + 1))
    told.process.stdin.flush()
    told.hear_all()

    assert told.process.wait() == 0


def test_a_command_that_is_not_there_is_told_as_a_shell_tells_it(told: Told) -> None:
    told.start("no-such-program")
    told.hear_all()

    assert b"command not found: no-such-program" in told.errors
    assert told.end == {"exit_code": 127}


def children_of(pid: int) -> str:
    """Its children, also those that have ended and were not seen off."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().strip()


def written(path: Path) -> str:
    """What is in a file, if it is there."""
    return path.read_text().strip() if path.exists() else ""
