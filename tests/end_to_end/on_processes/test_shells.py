"""How is it to have a shell beside a worker? From the command line to the audit log."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

NAME = "looked-into"
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def job(stack: RunningStack) -> Iterator[SubmittedJob]:
    with stack.client("vision") as client:
        script = "import time; print('up', flush=True); time.sleep(600)"
        spec = {
            "name": NAME,
            "command": ["python", "-c", script],
            "env": {"OF_THE_JOB": "seen"},
            "elastic": {"mode": "fixed", "min_workers": 1, "max_workers": 1},
            "batch": {"global_batch_size": {"base": 8, "min": 8, "max": 8}},
        }
        found = SubmittedJob.submit(client, spec)
        until(lambda: "up" in found.log_lines(), what="its worker is there")
        yield found
        found.cancel()
        until(lambda: found.is_in("cancelled"), what="it ends")


@pytest.fixture
def environment(stack: RunningStack) -> Iterator[dict[str, str]]:
    """Of the command line of somebody who may have shells."""
    with stack.personal_token() as key:
        yield {**os.environ, "CONCERTINA_URL": stack.url, "CONCERTINA_TOKEN": key}


def ask(*words: str) -> list[str]:
    return [sys.executable, "-m", "concertina", "exec", NAME, *words]


def test_a_command_is_piped_to_typed_into_interrupted_and_told_of(
    stack: RunningStack, job: SubmittedJob, environment: dict[str, str]
) -> None:
    command = ask("--", "sh", "-c", "cat; echo $OF_THE_JOB >&2; exit 4")
    piped = subprocess.run(
        command, env=environment, input=b"x" * 100_000, capture_output=True, check=False
    )
    assert (piped.returncode, len(piped.stdout), piped.stderr) == (4, 100_000, b"seen\n")

    screen, code = typed(ask("--worker", "0"), environment)
    assert b"42-seen" in screen
    assert b"woken" in screen
    assert code == 3

    until(lambda: len(told(stack, job, "end_shell")) == 2, what="both ends are in the audit log")
    begun, ended = told(stack, job, "open_shell"), told(stack, job, "end_shell")
    assert [one["after"]["exit_code"] for one in ended] == [3, 4]
    assert begun[1]["after"]["command"].startswith("sh -c 'cat")
    assert {one["sender"] for one in [*begun, *ended]} == {stack.admin_username}


def told(stack: RunningStack, job: SubmittedJob, operation: str) -> list[dict[str, Any]]:
    return stack.audited(operation=operation, object=f"jobs/{job.job_id}")


def typed(command: list[str], environment: dict[str, str]) -> tuple[bytes, int]:
    """Type into a terminal, each line when what comes before it is seen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    screen = b""
    for awaited, line in (
        (b"$ ", b"echo $((6*7))-$OF_THE_JOB; stty size\r"),
        (b"42-seen", b"sleep 600 || echo wo'ken'; echo slept\r"),
        (b"slept", b"\x03"),
        (b"^C", b"echo wo'ken'; exit 3\r"),
    ):
        screen = read_until(ours, screen, awaited)
        os.write(ours, line)
    with suppress(OSError):  # the other end has gone
        while data := os.read(ours, 4096):
            screen += data
    os.close(ours)
    return screen, process.wait()


def read_until(terminal: int, screen: bytes, awaited: bytes) -> bytes:
    while awaited not in screen:
        screen += os.read(terminal, 4096)
    return screen


def test_a_command_ends_when_its_client_or_its_worker_is_gone(
    job: SubmittedJob, environment: dict[str, str]
) -> None:
    """Whatever it does about signals."""
    script = "trap '' HUP INT TERM; echo $$; while :; do sleep 1; done"
    command = ask("--", "sh", "-c", script)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        client.kill()
    until(lambda: not Path(f"/proc/{pid}").exists(), what="the command has ended")

    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as client:
        assert client.stdout is not None
        assert client.stderr is not None
        assert client.stdout.readline()
        job.cancel()
        assert b"has ended" in client.stderr.read()
    assert client.returncode == 3
