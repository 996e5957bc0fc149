"""Which processes must run, and what if one does not? It is started again, with back-off."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from autoscaler.backoff import Backoff
from local_stack.processes.child_process import ChildProcess, ProcessSpec, describe_exit
from local_stack.stack_record import ProcessRecord
from local_stack.terminal import duration

# Guessed: an accident is repaired at once, and something broken for good must not burn a core.
BETWEEN_STARTS = Backoff(first_seconds=0.2, longest_seconds=15.0)
STABLE_SECONDS = 30.0  # up for so long, a process is forgiven its past


@dataclass(slots=True, kw_only=True)
class SupervisedProcess:
    """A process and its history."""

    spec: ProcessSpec
    process: ChildProcess
    restarts: int = 0
    failures: int = 0  # in a row
    restart_at: float | None = None  # monotonic; set while it is down
    last_exit: str = ""

    def as_record(self) -> ProcessRecord:
        return ProcessRecord(
            name=self.spec.name,
            pid=self.process.pid,
            started_at=self.process.started_at,
            restarts=self.restarts,
            last_exit=self.last_exit,
        )


class StackSupervisor:
    """Keeps processes running. Use from the main thread: a child ends with its parent *thread*."""

    def __init__(self, *, say: Callable[[str], None]) -> None:
        """Tell through `say` whatever a person should know."""
        self._say = say
        self._stages: list[list[SupervisedProcess]] = []  # each needs those before it

    def start(self, *specs: ProcessSpec) -> None:
        """Start these side by side, as one stage, and wait until each answers.

        Raises:
            NotReady: one does not.
        """
        stage: list[SupervisedProcess] = []
        self._stages.append(stage)
        stage.extend(SupervisedProcess(spec=spec, process=ChildProcess(spec)) for spec in specs)
        for one in stage:
            one.process.wait_until_ready()

    def records(self) -> tuple[ProcessRecord, ...]:
        return tuple(one.as_record() for one in self._supervised)

    @property
    def _supervised(self) -> list[SupervisedProcess]:
        return [one for stage in self._stages for one in stage]

    def run_once(self) -> bool:
        """Look at every process once; True if one was found down or was restarted."""
        looked_after = [self._look_after(one) for one in self._supervised]  # all, not up to one
        return any(looked_after)

    def _look_after(self, one: SupervisedProcess) -> bool:
        if one.restart_at is None:
            return self._note_if_down(one)
        if time.monotonic() < one.restart_at:
            return False
        try:
            one.process = ChildProcess(one.spec)
        except OSError as trouble:  # a full disk, no memory: it may pass
            self._put_off(one, f"{one.spec.name} cannot be started: {trouble}")
            return True
        one.restarts += 1
        one.restart_at = None
        self._say(f"{one.spec.name}: started again (pid {one.process.pid})")
        return True

    def _note_if_down(self, one: SupervisedProcess) -> bool:
        if one.process.is_alive:
            return False
        if time.time() - one.process.started_at > STABLE_SECONDS:
            one.failures = 0
        one.process.kill_group()
        one.last_exit = describe_exit(one.process.exit_code)
        self._put_off(one, f"{one.spec.name} {one.last_exit}")
        return True

    def _put_off(self, one: SupervisedProcess, why: str) -> None:
        one.failures += 1
        delay_seconds = BETWEEN_STARTS.seconds_after(one.failures)
        one.restart_at = time.monotonic() + delay_seconds
        self._say(f"{why}; starting it again in {duration(delay_seconds)} (log: {one.spec.log})")

    def stop(self, *, down_to: str | None = None) -> None:
        """End all processes, stage by stage, the last first. Blocks until none is left.

        The stage of the process `down_to`, and those before it, run on.
        """
        while self._stages and down_to not in {one.spec.name for one in self._stages[-1]}:
            for one in self._stages[-1]:
                one.process.ask_to_stop()
            for one in self._stages[-1]:
                one.process.stop()
            self._stages.pop()
