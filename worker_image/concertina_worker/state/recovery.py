"""From where do the members of a fresh group go on? From the state of whoever is furthest.

After a failure survivors differ by at most one step; at the start of an attempt nobody has state.
Both are the same case: tell each other the step, then copy from the furthest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from concertina_worker.collective.group import Group, GroupLostError
from concertina_worker.state.description import fingerprint
from concertina_worker.state.training_state import TrainingState
from concertina_worker.state.transfer import receive_header, send_header, send_or_receive

_NO_STATE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredState:
    """What it took to give all members the same state."""

    copy_seconds: float = 0.0
    lost_steps: int = 0  # made before, as far as a member knows, and to be made again


def synchronise(
    group: Group,
    state: TrainingState,
    begin: Callable[[], None],
    furthest_step: Callable[[], int] = lambda: 0,
) -> RecoveredState:
    """Give every member the same state; `begin` makes that of one where nobody has any.

    `furthest_step` of those who are no more counts where nobody has state: the work of others is
    not lost while somebody goes on from it.

    Members that have made the same steps differ in nothing large, but maybe in a schedule: it may
    have followed a mean that only some of them heard before the others lost the group.

    Raises:
        GroupLostError: a member was lost meanwhile. A state of which only some has arrived is
            given up for what was there before, the next time.
        OtherModelError: this worker's model is not that of the furthest.
    """
    own = state.step
    state.go_back()
    model = fingerprint(state.description)
    steps, reached, models, noted = _exchange(
        group, state.step if state.is_complete else _NO_STATE, own, model, furthest_step()
    )
    if max(steps) == _NO_STATE:
        reached += noted
    root = steps.index(max(steps))
    if max(steps) == _NO_STATE and group.rank == root:
        begin()
    if group.size == 1:
        return RecoveredState(lost_steps=max(*reached, state.step) - state.step)
    began = time.monotonic()
    is_behind = steps[group.rank] < steps[root] or not state.is_complete
    if is_behind:
        state.keep()
    _copy_header(group, state, root=root)
    if set(models) != {model}:
        raise GroupLostError("another worker has another model, and leaves")
    if min(steps) < max(steps) or max(steps) == _NO_STATE:
        # Those who are not behind receive what they have already: all must take part.
        send_or_receive(group.everyone, [*state.tensors(), *state.buffers()], root=root)
    state.has_arrived()
    return RecoveredState(
        copy_seconds=time.monotonic() - began, lost_steps=max(*reached, state.step) - state.step
    )


def _exchange(group: Group, *own: int) -> list[list[int]]:
    """Everybody's of each of these numbers, by rank."""
    table = torch.zeros(len(own), group.size, dtype=torch.int64)
    table[:, group.rank] = torch.tensor(own)
    everyones: list[list[int]] = group.sum(table).tolist()
    return everyones


def _copy_header(group: Group, state: TrainingState, *, root: int) -> None:
    if group.rank == root:
        send_header(group.everyone, state.header(), root=root)
    else:
        state.take_header(receive_header(group.everyone, root=root))
