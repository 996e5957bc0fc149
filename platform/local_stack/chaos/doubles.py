"""What if parts of the service run twice? A second `beat` and `control`, beside the stack's.

Two of them must do what one does: every tick is asked for twice, and when one is frozen in the
middle of a tick, the other goes on as soon as it may, and the first finds out when it wakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from local_stack.child_process import ProcessSpec, always_ready
from local_stack.service import Service
from local_stack.supervisor import Supervisor

DOUBLED = ("beat", "control")


class Doubles:
    """The second ones of one stack; none are started unless asked for."""

    def __init__(self, service: Service, *, say: Callable[[str], None]) -> None:
        self._service = service
        self._supervisor = Supervisor(say=say)

    @contextmanager
    def running(self) -> Iterator[None]:
        specs = [_second(one, self._service) for one in self._service.processes()]
        try:
            self._supervisor.start(*(one for one in specs if one is not None))
            yield
        finally:
            self._supervisor.stop()

    def look_after(self) -> None:
        """Start again what has ended."""
        self._supervisor.run_once()


def _second(spec: ProcessSpec, service: Service) -> ProcessSpec | None:
    if spec.name not in DOUBLED:
        return None
    name = f"{spec.name}-2"
    schedule = str(service.checkout.state_dir / "beat-schedule")
    others = {"control@%h": "control-2@%h", schedule: f"{schedule}-2"}
    return replace(
        spec,
        name=name,
        command=tuple(others.get(word, word) for word in spec.command),
        log=service.checkout.logs_dir / f"{name}.log",
        is_ready=always_ready,
    )
