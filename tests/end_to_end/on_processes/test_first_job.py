"""Does the guide to a first own job hold, word for word?"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from local_stack.checkout import ROOT

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import until
from tests.object_store import ObjectStore, object_store

pytestmark = pytest.mark.timeout(600)

GUIDE = (ROOT / "docs" / "jobs" / "first-job.md").read_text()
BLOCK = re.compile(
    r"^(?:`(?P<file>[a-z]+\.py)`:\n\n```python|```console)\n(?P<text>.*?)```$",
    re.DOTALL | re.MULTILINE,
)
BY_TERMINALS_ALONE = "Password:"
CHANGES = re.compile(r"[0-9][0-9.:,]*|\([0-9a-z]{10}\)|/[^ ]+")  # numbers, ids, paths


@dataclass(frozen=True, slots=True)
class Step:
    """Something that the guide has its reader do."""

    file: str  # to be written; empty: a command is to be run
    text: str
    said: list[str]  # by the command, line by line


def steps_of(guide: str) -> Iterator[Step]:
    for block in BLOCK.finditer(guide):
        if block["file"]:
            yield Step(block["file"], block["text"], [])
            continue
        for command in block["text"].removeprefix("$ ").split("\n$ "):
            first, *said = command.splitlines()
            yield Step("", first, [line for line in said if line != BY_TERMINALS_ALONE])


def fits(line: str, said: str) -> bool:
    """True if somewhere a line stands that differs in numbers and names at most."""
    pattern = "(?:[^ ]+)".join(re.escape(part) for part in CHANGES.split(line))
    return re.search(rf"^{pattern}$", said, re.MULTILINE) is not None


class Reader:
    """Somebody who does what the guide says, in a folder of their own."""

    def __init__(self, stack: RunningStack, store: ObjectStore, folder: Path) -> None:
        self._folder = folder / "first"
        self._folder.mkdir()
        self._stack = stack
        self._here = {
            "http://127.0.0.1:8000": stack.url,
            "https://s3.example.com": store.endpoint,
            "--as grace": f"--as {stack.admin_username}",
            "ct_…": stack.tokens["vision"],
        }
        self._environment = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def write(self, name: str, content: str) -> None:
        (self._folder / name).write_text(content)

    def run(self, command: str) -> str:
        mine = command
        for there, here in self._here.items():
            mine = mine.replace(there, here)
        ended = subprocess.run(
            ["bash", "-c", mine],
            cwd=self._folder,
            env=self._environment,
            input=self._stack.admin_password,  # of who asks for one
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, f"{command}: {ended.stdout} {ended.stderr}"
        return ended.stdout + ended.stderr


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    """A bucket with samples of a sine."""
    with object_store() as made:
        places = [6 * n / 4095 - 3 for n in range(4096)]
        lines = "".join(f"{x:.6f},{math.sin(x):.6f}\n" for x in places)
        made.put("sine/samples.csv", lines.encode())
        yield made


@pytest.fixture
def reader(stack: RunningStack, store: ObjectStore, tmp_path: Path) -> Iterator[Reader]:
    made = Reader(stack, store, tmp_path)
    yield made
    with stack.client("vision") as client:
        for job in first(client):
            client.post(f"/api/v1/jobs/{job['id']}/cancel", json={})


def first(client: httpx.Client) -> list[dict[str, Any]]:
    jobs = client.get("/api/v1/jobs", params={"search": "first"}).json()["items"]
    return [job for job in jobs if job["name"] == "first"]


def test_a_first_own_job_as_the_guide_says(stack: RunningStack, reader: Reader) -> None:
    with stack.client("vision") as client:

        def is_so(state: str, workers: int, step: int = 0) -> bool:
            (job,) = first(client)
            is_large = job["workers"] >= workers and job["step"] > step
            return bool(job["state"] == state and is_large)

        before = {  # as a reader waits, too
            "concertina logs first": partial(is_so, "running", 1, 70),
            "concertina describe first": partial(is_so, "running", 2),
            "concertina checkpoints get first": partial(is_so, "paused", 0),
        }
        for step in steps_of(GUIDE):
            if step.file:
                reader.write(step.file, step.text)
                continue
            for beginning, condition in before.items():
                if step.text.startswith(beginning):
                    until(condition, what=f"it is time for {step.text}")
            said = reader.run(step.text)
            assert [line for line in step.said if not fits(line, said)] == [], said
        assert first(client)[0]["state"] == "cancelled"
