"""From where do the members of a fresh group go on? From the state of whoever is furthest.

After a failure survivors differ by at most one step; at the start of an attempt nobody has state.
Both are the same case: tell each other the step, then copy from the furthest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from concertina_worker.collective.group import Group
from concertina_worker.state.training_state import TrainingState
from concertina_worker.state.transfer import receive_header, send_header, send_or_receive

_NO_STATE = -1


def synchronise(
    group: Group, state: TrainingState, load_checkpoint: Callable[[], dict[str, Any] | None]
) -> float:
    """Give every member the same state; returns for how many seconds it was copied.

    Raises:
        RuntimeError: a member was lost meanwhile. A state that was being received is then
            marked as incomplete.
    """
    steps = _exchange(group, state.step if state.is_complete else _NO_STATE)
    root = steps.index(max(steps))
    if max(steps) == _NO_STATE and group.rank == root:
        _begin(state, load_checkpoint())
    someone_is_behind = min(steps) < max(steps) or max(steps) == _NO_STATE
    if group.size > 1 and someone_is_behind:
        is_behind = steps[group.rank] < steps[root] or not state.is_complete
        return _copy(group, state, root=root, is_behind=is_behind)
    return 0.0


def _begin(state: TrainingState, checkpoint: dict[str, Any] | None) -> None:
    if checkpoint is None:
        state.begin_afresh()
    else:
        state.load_checkpoint(checkpoint)


def _exchange(group: Group, step: int) -> list[int]:
    """Everybody's step, by rank."""
    steps = torch.zeros(group.size, dtype=torch.int64)
    steps[group.rank] = step
    return [int(value) for value in group.sum(steps)]


def _copy(group: Group, state: TrainingState, *, root: int, is_behind: bool) -> float:
    """Those who are not behind receive as well, what they have already: all must take part."""
    began = time.monotonic()
    if group.rank == root:
        send_header(group.everyone, state.header(), root=root)
    else:
        header = receive_header(group.everyone, root=root)
        if is_behind:
            state.is_complete = False
            state.take_header(header)
    send_or_receive(group.everyone, [*state.tensors(), *state.buffers()], root=root)
    state.is_complete = True
    return time.monotonic() - began
