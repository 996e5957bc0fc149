"""Is every promise kept in whatever order things happen, and would a broken one be noticed?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from cluster.docker_host.lifecycle import steps
from cluster.docker_host.lifecycle.steps import STEPS, ContainerState, LifecycleStep, WantedState

from tests.containers.small_world import PromiseBroken, World, happenings, left_undone


def all_worlds() -> int:
    """How many are reached from where nothing is known; each settles as everybody wished."""
    first = World()
    story: dict[World, tuple[str, ...]] = {first: ()}
    waiting = [first]
    while waiting:
        world = waiting.pop()
        if undone := list(left_undone(world)):
            raise PromiseBroken(undone, story[world])
        try:
            after = dict(happenings(world))
        except PromiseBroken as promise:
            raise PromiseBroken(str(promise), story[world]) from promise
        for name, next_world in after.items():
            if next_world not in story:
                story[next_world] = (*story[world], name)
                waiting.append(next_world)
    return len(story)


def test_every_promise_is_kept_in_every_world_that_can_be_reached() -> None:
    """Nothing is started twice or removed too early, and whatever is wished comes true."""
    assert all_worlds() > 300


_GONE: Final = (
    LifecycleStep.FORGET,
    LifecycleStep.DISCARD,
    LifecycleStep.REMOVE,
    LifecycleStep.DROP,
)
BROKEN: Final[Mapping[str, tuple[ContainerState, WantedState, tuple[LifecycleStep, ...], str]]] = {
    "what ended is started again": (
        ContainerState.EXITED,
        WantedState.RUN,
        (LifecycleStep.START,),
        "started again",
    ),
    "what ended goes unasked": (
        ContainerState.EXITED,
        WantedState.KEEP,
        _GONE,
        "before anybody asked",
    ),
    "the log is not copied": (
        ContainerState.EXITED,
        WantedState.FORGET,
        _GONE,
        "before its log was copied",
    ),
    "what runs is removed": (
        ContainerState.RUNNING,
        WantedState.FORGET,
        _GONE,
        "the scratch of what runs",
    ),
    "a removal is not written down first": (
        *(
            ContainerState.MADE,
            WantedState.KEEP,
            (LifecycleStep.DISCARD, LifecycleStep.REMOVE, LifecycleStep.FORGET, LifecycleStep.DROP),
        ),
        "started without its scratch",
    ),
    "a record goes before its container": (
        *(ContainerState.GOING, WantedState.FORGET, (LifecycleStep.FORGET, LifecycleStep.DROP)),
        "a container without a record",
    ),
    "a refusal is dropped unread": (
        *(ContainerState.REFUSED, WantedState.KEEP, (LifecycleStep.DROP,)),
        "before anybody forgot it",
    ),
    "a forgotten refusal stays": (
        ContainerState.REFUSED,
        WantedState.FORGET,
        (),
        "stays|still there",
    ),
    "nobody ends what runs": (ContainerState.RUNNING, WantedState.END, (), "does not end"),
    "what its launcher left stays": (ContainerState.LEFT, WantedState.KEEP, (), "stays left"),
    "what nobody starts stays": (ContainerState.MADE, WantedState.KEEP, (), "stays made"),
    "nothing is made": (ContainerState.UNKNOWN, WantedState.RUN, (), "cannot be started"),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda name: name.replace(" ", "_"))
def test_a_broken_step_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state, wish, instead, seen = BROKEN[broken]
    monkeypatch.setattr(steps, "STEPS", {**STEPS, state: {**STEPS[state], wish: instead}})
    with pytest.raises(PromiseBroken, match=seen):
        all_worlds()
