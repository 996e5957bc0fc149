"""May a job start, as far as the other jobs go that it waits for?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from jobs.lifecycle import FINAL, JobState
from jobs.wait_condition import MET_BY, WaitCondition

_MOST_NAMED: Final = 3
_TO_END: Final = {
    WaitCondition.OK: "to complete",
    WaitCondition.ANY: "to end",
    WaitCondition.FAILED: "to fail",
}
_NOW: Final = {JobState.RESCALING: JobState.RUNNING}  # to others it is all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedJobs:
    """Those of the jobs that one job waits for which it waits for alike, and which stand alike."""

    condition: WaitCondition
    state: JobState | None  # None: deleted, and nobody knows how they ended
    count: int
    names: Sequence[str]  # of the first of them

    @property
    def is_met(self) -> bool:
        if self.state is None:
            return self.condition is WaitCondition.ANY
        return self.state in MET_BY[self.condition]

    @property
    def is_in_vain(self) -> bool:
        """They have ended, and not as they have to."""
        return not self.is_met and (self.state is None or self.state in FINAL)

    def listed(self) -> str:
        """Name the first, and say how they stand."""
        shown = [*self.names[:_MOST_NAMED]]
        more = self.count - len(shown)
        words = [*shown, *([f"{more} more"] if more > 0 else [])]
        together = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        state = "" if self.state is None else f" ({_NOW.get(self.state, self.state)})"
        return f"{together} {_TO_END[self.condition]}{state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyVerdict:
    """What follows for the job that waits; neither: it waits for nobody any more."""

    waits: str = ""  # for whom, in a sentence
    in_vain: str = ""  # why it never starts


def verdict_on(awaited: Sequence[AwaitedJobs]) -> DependencyVerdict:
    """Return what follows from how all stand that the job waits for."""
    broken = next((group for group in awaited if group.is_in_vain), None)
    if broken is not None:
        return DependencyVerdict(in_vain=_in_vain(broken))
    open_ = [group for group in awaited if not group.is_met]
    if not open_:
        return DependencyVerdict()
    return DependencyVerdict(waits=f"Waits for {', and for '.join(one.listed() for one in open_)}.")


def _in_vain(group: AwaitedJobs) -> str:
    name = group.names[0] if group.names else "another job"
    ended = (
        "was deleted before anybody knew how it ended"
        if group.state is None
        else f"is {group.state}"
    )
    return f"It waited for {name} {_TO_END[group.condition]}, which {ended}."
