"""What is one process of the stack, and how is it started, watched and stopped?"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.processes.tether import tethered


class NotReady(Exception):
    """A process ended or did not answer in time after its start."""


def always_ready() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """Everything needed to run one process of the stack."""

    name: str
    command: tuple[str, ...]
    log: Path
    working_directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)  # on top of our own
    is_ready: Callable[[], bool] = always_ready  # asked often: fast, and False on any trouble
    ready_seconds: float = 180.0  # guessed: however busy the machine is; an end is noticed at once
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0


class ChildProcess:
    """A started process, in a session of its own so that Ctrl-C reaches only the supervisor."""

    def __init__(self, spec: ProcessSpec) -> None:
        """Start the process. Its output goes to the end of the spec's log."""
        self.spec = spec
        self.started_at = time.time()
        self._is_asked_to_stop = False
        with spec.log.open("ab") as log:
            self._popen = subprocess.Popen(
                tethered(spec.command, death_signal=spec.stop_signal),
                cwd=spec.working_directory,
                env={**os.environ, **spec.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code: None while it runs, negative when a signal ended it."""
        return self._popen.poll()

    @property
    def is_alive(self) -> bool:
        return self.exit_code is None

    def wait_until_ready(self) -> None:
        """Block until the process answers.

        Raises:
            NotReady: it ended, or did not answer within the spec's time.
        """
        deadline = time.monotonic() + self.spec.ready_seconds
        while not self.spec.is_ready():
            if not self.is_alive:
                raise NotReady(f"{self.spec.name} {describe_exit(self.exit_code)} at start")
            if time.monotonic() > deadline:
                raise NotReady(
                    f"{self.spec.name} did not answer within {self.spec.ready_seconds:.0f} s"
                )
            time.sleep(0.03)

    def ask_to_stop(self) -> None:
        """Send the signal on which the process ends in order, once. Does not wait.

        A second signal would mean haste to Celery, which then drops what it works on.
        """
        if self.is_alive and not self._is_asked_to_stop:
            self._is_asked_to_stop = True
            self._popen.send_signal(self.spec.stop_signal)

    def stop(self) -> None:
        """End the process in order, then whatever is left of its group by force. Blocks."""
        self.ask_to_stop()
        try:
            self._popen.wait(self.spec.stop_seconds)
        except subprocess.TimeoutExpired:
            self._popen.kill()
        self.kill_group()
        self._popen.wait()

    def kill_group(self) -> None:
        """Kill what the process left behind, such as the pool of a killed Celery worker."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def describe_exit(exit_code: int | None) -> str:
    """Words for how a process ended, to follow its name."""
    if exit_code is None:
        return "is running"
    if exit_code < 0:
        return f"was ended by {signal.Signals(-exit_code).name}"
    return f"ended with exit code {exit_code}"
