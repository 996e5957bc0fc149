"""What if parts of the service run twice? A second `api`, `beat` and `control`, beside the stack's.

Two of them must do what one does: every tick is asked for twice, and when one is frozen in the
middle of a tick, the other goes on as soon as it may, and the first finds out when it wakes. Every
second connection to the api reaches the other one, whoever asks; that takes a network of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Final

from local_stack.chaos.disk_and_network import cuts
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.processes.child_process import ProcessSpec, always_ready
from local_stack.processes.supervisor import StackSupervisor
from local_stack.stack.service import health

API = "api"
ALONE: Final = nullcontext()
DOUBLED = (API, "beat", "control")


class Doubles:
    """The second ones of one stack; none are started unless asked for."""

    def __init__(self, stack: TargetStack, *, say: Callable[[str], None]) -> None:
        self._stack = stack
        self._supervisor = StackSupervisor(say=say)

    @contextmanager
    def running(self) -> Iterator[None]:
        specs = [second(one, self._stack) for one in self._stack.service().processes()]
        try:
            self._supervisor.start(*(one for one in specs if one is not None))
            with cuts.shared_connections(*self._stack.ports) if self._stack.has_network else ALONE:
                yield
        finally:
            self._supervisor.stop()

    def look_after(self) -> None:
        """Start again what has ended."""
        self._supervisor.run_once()


def second(spec: ProcessSpec, stack: TargetStack) -> ProcessSpec | None:
    """The one beside this; None: it stays alone."""
    if spec.name not in DOUBLED or (spec.name == API and not stack.has_network):
        return None
    checkout, name = stack.checkout, f"{spec.name}-2"
    schedule = str(checkout.state_dir / "beat-schedule")
    address, other_address = (f"127.0.0.1:{port}" for port in stack.ports)
    others = {
        "control@%h": "control-2@%h",
        schedule: f"{schedule}-2",
        address: other_address,
    }
    return replace(
        spec,
        name=name,
        command=tuple(others.get(word, word) for word in spec.command),
        log=checkout.logs_dir / f"{name}.log",
        is_ready=(lambda: health(f"http://{other_address}").get("status") == "ok")
        if spec.name == API
        else always_ready,
    )
