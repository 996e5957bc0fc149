"""Did jobs go on while a node was away? As many as the other nodes have room for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.faults import NODE_LOST_SECONDS, Way
from local_stack.chaos.strikes.strikes import StrikeRecord


def of(
    struck: StrikeRecord, newest_steps: Mapping[str, float], *, machines: Machines
) -> Iterator[str]:
    """Sentences about what stood still.

    Args:
        struck: what was done.
        newest_steps: when each job that is to train made its newest step, by its name.
        machines: with how many GPUs the others go on.
    """
    lost = [target for target in struck.targets if target.fault.way is Way.LOSE]
    if not lost:
        return
    given_up_at = struck.at + NODE_LOST_SECONDS
    went_on = [name for name, at in newest_steps.items() if at > given_up_at]
    room = machines.gpus_each * (len(machines.nodes) - len(lost))
    expected = min(room, len(newest_steps))
    if len(went_on) < expected:
        yield (
            f"{lost[0].what} was away, and only {len(went_on)} of {expected} jobs went on"
            f" elsewhere: {', '.join(sorted(went_on)) or 'none'}"
        )
