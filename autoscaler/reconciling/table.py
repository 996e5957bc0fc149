"""Which rules hold for a job, by how it changes its workers and by its state? In which order?

A rule that changes the job ends the look at it: the next begins with the first rule again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from autoscaler.reconciling.instructions import Instructions
from autoscaler.reconciling.rules.ending import (
    budgets,
    disk,
    idleness,
    limits,
    settling,
    standstill,
    stopping,
)
from autoscaler.reconciling.rules.failures import hung_workers, release, silent_nodes, slow_nodes
from autoscaler.reconciling.rules.starting import (
    joining,
    launching,
    mode,
    preparing,
    refusals,
    restart_mode,
)
from autoscaler.reconciling.snapshot import (
    JobSnapshot,
    RescaleMode,
)
from jobs.lifecycle import ACTIVE, JobState

Rule = Callable[[JobSnapshot], Instructions]

_ALL: Final = frozenset(JobState)
_CHANGING: Final = frozenset({JobState.STARTING, JobState.RESCALING})
_HOT: Final = frozenset({RescaleMode.HOT})
_RESTART: Final = frozenset({RescaleMode.RESTART})
_BOTH: Final = frozenset(RescaleMode)

_IN_ORDER: Final[tuple[tuple[Rule, frozenset[RescaleMode], frozenset[JobState]], ...]] = (
    (release.release_ended_workers, _BOTH, _ALL),
    (refusals.give_up_what_cannot_start, _BOTH, ACTIVE),
    (refusals.give_up_what_is_always_killed, _BOTH, ACTIVE),
    (settling.settle, _BOTH, ACTIVE),
    (settling.finish_after_all, _HOT, frozenset({JobState.STOPPING})),
    (disk.end_what_writes_too_much, _BOTH, ACTIVE),
    (disk.warn_of_a_filling_disk, _BOTH, ACTIVE),
    (limits.end_what_is_used_up, _BOTH, ACTIVE),
    (limits.end_what_would_start_again, _BOTH, frozenset({JobState.STOPPING})),
    (limits.warn_of_near_limits, _BOTH, ACTIVE),
    (budgets.pause_for_the_budget, _BOTH, ACTIVE),
    (idleness.tell_of_idleness, _BOTH, ACTIVE),
    (idleness.pause_what_is_idle, _BOTH, frozenset({JobState.RUNNING})),
    (joining.go_on_without_the_gone, _HOT, _CHANGING),
    (preparing.tell_of_preparations, _BOTH, _CHANGING),
    (joining.give_up_preparations, _BOTH, _CHANGING),
    (joining.drop_late_joiners, _HOT, _CHANGING),
    (mode.detect_mode, _HOT, frozenset({JobState.STARTING})),
    (hung_workers.kill_given_up_workers, _HOT, _ALL),
    (hung_workers.kill_left_out_workers, _HOT, frozenset({JobState.RUNNING})),
    (joining.give_up_stuck_changes, _HOT, _CHANGING),
    (standstill.end_what_stands_still, _BOTH, frozenset({JobState.STARTING, JobState.RUNNING})),
    (slow_nodes.warn_of_slow_nodes, _BOTH, _ALL),
    (silent_nodes.warn_of_silent_nodes, _BOTH, _ALL),
    (silent_nodes.leave_the_lost_behind, _HOT, frozenset({JobState.RUNNING})),
    (restart_mode.seat_next_set, _BOTH, ACTIVE),
    (restart_mode.begin_generation, _RESTART, _CHANGING),
    (stopping.stop_workers, _BOTH, _ALL),
    (stopping.finish, _BOTH, frozenset({JobState.STOPPING})),
    (launching.start_missing, _BOTH, _ALL),
)

RULES: Final[dict[tuple[RescaleMode, JobState], tuple[Rule, ...]]] = {
    (mode, state): tuple(
        rule for rule, modes, states in _IN_ORDER if mode in modes and state in states
    )
    for mode in RescaleMode
    for state in JobState
}


def rules_for(job: JobSnapshot) -> tuple[Rule, ...]:
    """The rules that hold for this job, in order."""
    return RULES[job.mode, job.state]
