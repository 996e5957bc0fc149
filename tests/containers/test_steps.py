"""What is to be done next for a process, as a map: a sentence -> (what was found out, steps)."""

from __future__ import annotations

from typing import Final

import pytest
from cluster.docker_host.lifecycle.steps import STEPS, ContainerObservation, LifecycleStep

REMOVAL: Final = [
    LifecycleStep.FORGET,
    LifecycleStep.DISCARD,
    LifecycleStep.REMOVE,
    LifecycleStep.DROP,
]

EXPECTED: dict[str, tuple[ContainerObservation, list[LifecycleStep]]] = {
    "what nobody knows is made and started": (
        ContainerObservation(has_record=False, is_launched=True),
        [LifecycleStep.MAKE, LifecycleStep.START],
    ),
    "what nobody knows is forgotten already": (
        ContainerObservation(has_record=False, is_forgotten=True),
        [],
    ),
    "a launch whose service died is taken up again": (
        ContainerObservation(is_launched=True),
        [LifecycleStep.MAKE, LifecycleStep.START],
    ),
    "what a dying service made is started, and not made again": (
        ContainerObservation(status="created", is_launched=True),
        [LifecycleStep.START],
    ),
    "what runs is not started again": (
        ContainerObservation(status="running", is_launched=True),
        [],
    ),
    "what ended is not started again": (
        ContainerObservation(status="exited", is_launched=True),
        [],
    ),
    "what Docker is removing has to be gone first": (
        ContainerObservation(status="removing", is_launched=True),
        [],
    ),
    "what was refused is not started again": (
        ContainerObservation(has_ended=True, is_launched=True),
        [],
    ),
    "who launches what is to end finds that out by itself": (
        ContainerObservation(is_launched=True, is_to_end=True),
        [LifecycleStep.MAKE, LifecycleStep.START],
    ),
    "what was forgotten goes before it is started anew": (
        ContainerObservation(is_launched=True, is_forgotten=True),
        REMOVAL,
    ),
    "what somebody prepares is left to them": (ContainerObservation(is_held=True), []),
    "what somebody prepares is left to them, also if it is to end": (
        ContainerObservation(status="created", is_held=True, is_to_end=True),
        [],
    ),
    "what somebody removes is left to them": (
        ContainerObservation(is_held=True, is_forgotten=True),
        [],
    ),
    "what a dying service prepared goes, as it is started anew": (ContainerObservation(), REMOVAL),
    "what a dying service made goes, as it is started anew": (
        ContainerObservation(status="created"),
        REMOVAL,
    ),
    "what a dying service prepared goes, though it is to end": (
        ContainerObservation(is_to_end=True),
        REMOVAL,
    ),
    "what a dying service made goes, though it is to end": (
        ContainerObservation(status="created", is_to_end=True),
        REMOVAL,
    ),
    "what was made and forgotten goes": (
        ContainerObservation(status="created", is_forgotten=True),
        REMOVAL,
    ),
    "what runs goes on": (ContainerObservation(status="running"), []),
    "what is paused counts as running": (
        ContainerObservation(status="paused", is_to_end=True),
        [LifecycleStep.STOP],
    ),
    "what runs is ended once somebody wishes it": (
        ContainerObservation(status="running", is_to_end=True),
        [LifecycleStep.STOP],
    ),
    "what runs is ended while its start is not over": (
        ContainerObservation(status="running", is_to_end=True, is_held=True),
        [LifecycleStep.STOP],
    ),
    "what runs does not go, whoever forgot it": (
        ContainerObservation(status="running", is_forgotten=True),
        [LifecycleStep.STOP],
    ),
    "what ended stays until it is forgotten": (
        ContainerObservation(status="exited", is_to_end=True),
        [],
    ),
    "what ended and was forgotten goes once its log is copied": (
        ContainerObservation(status="exited", is_forgotten=True),
        [
            LifecycleStep.FORGET,
            LifecycleStep.DISCARD,
            LifecycleStep.COPY_LOG,
            LifecycleStep.REMOVE,
            LifecycleStep.DROP,
        ],
    ),
    "what Docker could not remove is tried again": (
        ContainerObservation(status="dead", is_forgotten=True),
        [
            LifecycleStep.FORGET,
            LifecycleStep.DISCARD,
            LifecycleStep.COPY_LOG,
            LifecycleStep.REMOVE,
            LifecycleStep.DROP,
        ],
    ),
    "what Docker is removing and nobody forgot stays on record": (
        ContainerObservation(status="removing"),
        [],
    ),
    "what Docker is removing is removed": (
        ContainerObservation(status="removing", is_forgotten=True),
        REMOVAL,
    ),
    "a refusal stays until it is forgotten": (ContainerObservation(has_ended=True), []),
    "a refusal stays though what was made cannot be removed": (
        ContainerObservation(status="created", has_ended=True),
        [],
    ),
    "a refusal that was forgotten goes": (
        ContainerObservation(has_ended=True, is_forgotten=True),
        REMOVAL,
    ),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_what_is_to_be_done_next(sentence: str) -> None:
    look, steps = EXPECTED[sentence]
    assert list(look.steps) == steps


def test_the_map_names_every_pair_of_a_state_and_a_wish_for_which_something_is_done() -> None:
    told = {(look.state, look.wish) for look, steps in EXPECTED.values() if steps}
    assert told == {(state, wish) for state, by_wish in STEPS.items() for wish in by_wish}


LISTED: dict[str, tuple[ContainerObservation, bool]] = {
    "what runs": (ContainerObservation(status="running"), True),
    "what runs though it was forgotten": (
        ContainerObservation(status="running", is_forgotten=True),
        True,
    ),
    "what is prepared": (ContainerObservation(is_held=True), True),
    "what is made and about to start": (ContainerObservation(status="created", is_held=True), True),
    "what is being removed": (
        ContainerObservation(status="created", is_held=True, is_forgotten=True),
        False,
    ),
    "what ended": (ContainerObservation(status="exited"), True),
    "what ended and was forgotten": (
        ContainerObservation(status="exited", is_forgotten=True),
        False,
    ),
    "what was refused": (ContainerObservation(has_ended=True), True),
    "what was refused, though its container is still there": (
        ContainerObservation(status="created", has_ended=True),
        True,
    ),
    "what was refused and forgotten": (
        ContainerObservation(has_ended=True, is_forgotten=True),
        False,
    ),
    "what a dying service prepared, so that it is started anew": (ContainerObservation(), False),
    "what a dying service made, so that it is started anew": (
        ContainerObservation(status="created"),
        False,
    ),
    "what Docker is removing": (ContainerObservation(status="removing"), False),
}


@pytest.mark.parametrize("sentence", LISTED)
def test_who_is_listed(sentence: str) -> None:
    look, is_listed = LISTED[sentence]
    assert look.is_listed is is_listed
