"""How is somebody warned of a deadline? When the job will end, when it should, what is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.explanations.sentences.wording import moment

if TYPE_CHECKING:
    from autoscaler.planning.decisions.plan import DeadlineWarning


def warned(warning: DeadlineWarning) -> str:
    """Write a warning for people; moments are in UTC, from seconds since 1970."""
    late = f"after its deadline of {moment(warning.deadline)}"
    soonest = f"at its fastest it would end at {moment(warning.soonest_at)}"
    if warning.expected_at is None:
        return f"Will end {late}: it waits, and {soonest} if it started now."
    ends = f"Is predicted to end at {moment(warning.expected_at)}, {late}"
    return f"{ends}; {soonest}, {'too late' if warning.is_out_of_reach else 'in time'}."
