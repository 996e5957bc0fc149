"""How does somebody get beside a worker? Through this small port, which some hosts have.

What is started there is always the same program, `attendant`, which speaks in frames: so every kind
of worker host gives a terminal, sizes, signals and an exit status in the same way.
"""

from __future__ import annotations

from typing import Protocol


class ShellStream(Protocol):
    """What the attendant says, and what it is told."""

    def read(self) -> bytes | None:
        """Return what came; empty: it is over; None: nothing for a second."""

    def write(self, data: bytes) -> None:
        """Send all of it. Raises: OSError, if nobody is there any more."""

    def hang_up(self) -> None:
        """Have the attendant end all that it started; whoever reads comes to an end soon."""

    def close(self) -> None:
        """Let go, by whoever reads. What was started ends if it has not."""


class WorkerEntrance(Protocol):
    """Who can start the attendant beside a worker."""

    def enter(self, process_id: str, *, node: str) -> ShellStream:
        """Start it with the worker's user, environment, folder and bounds; it takes a moment.

        Raises:
            WorkerNotThere: no such worker runs there.
            CannotEnter: it runs, and nothing can be started beside it.
            HostUnavailable: its node does not answer now.
        """
