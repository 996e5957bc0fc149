"""A process that waits warm becomes the program it is told to be, as if it had just been started.

The same command as in a container that waits, started here without one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.worker.running_job import wait_for
from tests.worker.worker_zygote import python_path

SCRIPTS = Path(__file__).parents[1] / "contract" / "scripts"
MIRROR = str(SCRIPTS / "mirror.py")
BORN_WITH = {"PATH": "/usr/bin:/bin", "OF_THE_IMAGE": "1"}


@dataclass
class Waiting:
    """A warm process, and the folders that its container would see."""

    folder: Path
    modules: tuple[str, ...] = ("json",)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def mark(self) -> Path:
        return self.folder / ".warm"

    @property
    def orders(self) -> Path:
        return self.folder / "order.json"

    def begin(self) -> subprocess.Popen[str]:
        arguments = ("-m", "concertina_worker.warm_container", self.orders, self.mark)
        return self._start(*map(str, (*arguments, *self.modules, " " * 500)))

    def plain(self, *arguments: str, env: dict[str, str], workdir: str) -> subprocess.Popen[str]:
        return self._start(*arguments, env=env, workdir=workdir)

    def order(self, *arguments: str, env: dict[str, str], workdir: str) -> None:
        order = {"arguments": arguments, "env": env, "workdir": workdir}
        part = self.orders.with_suffix(".part")
        part.write_text(json.dumps(order))
        part.replace(self.orders)

    def _start(
        self, *arguments: str, env: dict[str, str] | None = None, workdir: str = "/"
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            (sys.executable, *arguments),
            env={**BORN_WITH, "PYTHONPATH": python_path(), **(env or {})},
            cwd=workdir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Waiting]:
    made = Waiting(tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.communicate()


def reflection(process: subprocess.Popen[str]) -> tuple[dict[str, Any], list[str], int]:
    """What the script saw, what else it wrote, and how it ended."""
    out, err = process.communicate(timeout=60)
    first, second, *others = out.splitlines()
    return {**json.loads(first), **json.loads(second)}, others + err.splitlines(), process.wait()


@pytest.mark.parametrize("ending", [("end",), ("raise",), ("exit", "7")], ids=" ".join)
def test_what_waited_warm_looks_to_the_script_like_any_other_start(
    waiting: Waiting, ending: tuple[str, ...]
) -> None:
    told = {"env": {"TOKEN": "sesame"}, "workdir": str(SCRIPTS)}
    command = (MIRROR, str(waiting.folder / "left_open"), *ending)
    warm_process = waiting.begin()
    cold, cold_said, cold_code = reflection(waiting.plain(*command, **told))
    waiting.order(*command, **told)
    warm, warm_said, warm_code = reflection(warm_process)
    assert (cold.pop("is_warm"), warm.pop("is_warm")) == (False, True)
    assert cold.pop("random") != warm.pop("random")
    assert warm == cold
    assert (warm_said, warm_code) == (cold_said, cold_code)
    assert warm["env"]["TOKEN"] == "sesame"
    assert warm["env"]["OF_THE_IMAGE"] == "1"


def test_it_says_when_it_is_warm_and_takes_that_back_when_it_is_taken(waiting: Waiting) -> None:
    process = waiting.begin()
    wait_for(waiting.mark.exists)
    assert process.poll() is None
    waiting.order("-m", "this", env={}, workdir="/")
    out, err = process.communicate(timeout=60)
    assert out.startswith("The Zen of Python")
    assert (err, process.returncode, waiting.mark.exists()) == ("", 0, False)


def test_an_order_that_was_there_first_is_obeyed_once_it_is_warm(waiting: Waiting) -> None:
    waiting.order("-m", "this", env={}, workdir="/")
    out, _ = waiting.begin().communicate(timeout=60)
    assert out.startswith("The Zen of Python")


def test_the_machine_shows_the_command_that_it_became(waiting: Waiting) -> None:
    process = waiting.begin()
    wait_for(waiting.mark.exists)
    out = str(waiting.folder / "left_open")
    waiting.order(MIRROR, out, "wait", env={}, workdir="/")
    shown = Path(f"/proc/{process.pid}/cmdline")
    wait_for(lambda: shown.read_text().split("\0")[:4] == [sys.executable, MIRROR, out, "wait"])


def test_who_waits_ends_when_it_is_asked_to(waiting: Waiting) -> None:
    process = waiting.begin()
    wait_for(waiting.mark.exists)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM


def test_a_working_directory_that_is_not_there_is_told(waiting: Waiting) -> None:
    process = waiting.begin()
    waiting.order(MIRROR, "x", "end", env={}, workdir="/no/such")
    _, err = process.communicate(timeout=60)
    assert "cannot enter the working directory '/no/such': No such file or directory" in err
    assert process.returncode == 127


def test_an_image_that_lacks_what_is_imported_ends_with_the_reason(waiting: Waiting) -> None:
    waiting.modules = ("no_such_module",)
    process = waiting.begin()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "ModuleNotFoundError: No module named 'no_such_module'" in err
    assert not waiting.mark.exists()
