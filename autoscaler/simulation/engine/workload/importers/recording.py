"""What was read from a text? A trace, what the text was taken for, and what was left out of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.simulation.engine.workload.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A workload that somebody wrote down.

    `kind` says in words what it was taken for. `left_out` and `changed` count jobs, by what they
    did: "used no GPU".
    """

    trace: Trace
    kind: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)

    def summary(self) -> str:
        """What was read, in one line for people."""
        found = len(self.trace.jobs)
        parts = [f"{self.kind}: {found:,} {'job' if found == 1 else 'jobs'}"]
        parts += [f"left out {count:,} that {what}" for what, count in self.left_out.items()]
        parts += [f"{count:,} {what}" for what, count in self.changed.items() if count]
        return "; ".join(parts) + "."


@dataclass(slots=True)
class ImportTally:
    """Counts, while a text is read, what will not be replayed as it was recorded."""

    kind: str
    _left_out: Counter[str] = field(default_factory=Counter)
    _changed: Counter[str] = field(default_factory=Counter)

    def leave_out(self, what: str) -> None:
        self._left_out[what] += 1

    def change(self, what: str, jobs: int) -> None:
        self._changed[what] += jobs

    def recording(self, trace: Trace) -> Recording:
        return Recording(
            trace=trace, kind=self.kind, left_out=self._left_out, changed=self._changed
        )
