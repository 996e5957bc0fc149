"""What is to be done next for a process, as a map: a sentence -> (what was found out, steps)."""

from __future__ import annotations

from typing import Final

import pytest
from cluster.docker_host.lifecycle.steps import STEPS, Look, Step

REMOVAL: Final = [Step.FORGET, Step.DISCARD, Step.REMOVE, Step.DROP]

EXPECTED: dict[str, tuple[Look, list[Step]]] = {
    "what nobody knows is made and started": (
        Look(has_record=False, is_launched=True),
        [Step.MAKE, Step.START],
    ),
    "what nobody knows is forgotten already": (Look(has_record=False, is_forgotten=True), []),
    "a launch whose service died is taken up again": (
        Look(is_launched=True),
        [Step.MAKE, Step.START],
    ),
    "what a dying service made is started, and not made again": (
        Look(status="created", is_launched=True),
        [Step.START],
    ),
    "what runs is not started again": (Look(status="running", is_launched=True), []),
    "what ended is not started again": (Look(status="exited", is_launched=True), []),
    "what Docker is removing has to be gone first": (Look(status="removing", is_launched=True), []),
    "what was refused is not started again": (Look(has_ended=True, is_launched=True), []),
    "who launches what is to end finds that out by itself": (
        Look(is_launched=True, is_to_end=True),
        [Step.MAKE, Step.START],
    ),
    "what was forgotten goes before it is started anew": (
        Look(is_launched=True, is_forgotten=True),
        REMOVAL,
    ),
    "what somebody prepares is left to them": (Look(is_held=True), []),
    "what somebody prepares is left to them, also if it is to end": (
        Look(status="created", is_held=True, is_to_end=True),
        [],
    ),
    "what somebody removes is left to them": (Look(is_held=True, is_forgotten=True), []),
    "what a dying service prepared goes, as it is started anew": (Look(), REMOVAL),
    "what a dying service made goes, as it is started anew": (Look(status="created"), REMOVAL),
    "what a dying service prepared goes, though it is to end": (Look(is_to_end=True), REMOVAL),
    "what a dying service made goes, though it is to end": (
        Look(status="created", is_to_end=True),
        REMOVAL,
    ),
    "what was made and forgotten goes": (Look(status="created", is_forgotten=True), REMOVAL),
    "what runs goes on": (Look(status="running"), []),
    "what is paused counts as running": (Look(status="paused", is_to_end=True), [Step.STOP]),
    "what runs is ended once somebody wishes it": (
        Look(status="running", is_to_end=True),
        [Step.STOP],
    ),
    "what runs is ended while its start is not over": (
        Look(status="running", is_to_end=True, is_held=True),
        [Step.STOP],
    ),
    "what runs does not go, whoever forgot it": (
        Look(status="running", is_forgotten=True),
        [Step.STOP],
    ),
    "what ended stays until it is forgotten": (Look(status="exited", is_to_end=True), []),
    "what ended and was forgotten goes once its log is copied": (
        Look(status="exited", is_forgotten=True),
        [Step.FORGET, Step.DISCARD, Step.COPY_LOG, Step.REMOVE, Step.DROP],
    ),
    "what Docker could not remove is tried again": (
        Look(status="dead", is_forgotten=True),
        [Step.FORGET, Step.DISCARD, Step.COPY_LOG, Step.REMOVE, Step.DROP],
    ),
    "what Docker is removing and nobody forgot stays on record": (Look(status="removing"), []),
    "what Docker is removing is removed": (Look(status="removing", is_forgotten=True), REMOVAL),
    "a refusal stays until it is forgotten": (Look(has_ended=True), []),
    "a refusal stays though what was made cannot be removed": (
        Look(status="created", has_ended=True),
        [],
    ),
    "a refusal that was forgotten goes": (Look(has_ended=True, is_forgotten=True), REMOVAL),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_what_is_to_be_done_next(sentence: str) -> None:
    look, steps = EXPECTED[sentence]
    assert list(look.steps) == steps


def test_the_map_names_every_pair_of_a_state_and_a_wish_for_which_something_is_done() -> None:
    told = {(look.state, look.wish) for look, steps in EXPECTED.values() if steps}
    assert told == {(state, wish) for state, by_wish in STEPS.items() for wish in by_wish}


LISTED: dict[str, tuple[Look, bool]] = {
    "what runs": (Look(status="running"), True),
    "what runs though it was forgotten": (Look(status="running", is_forgotten=True), True),
    "what is prepared": (Look(is_held=True), True),
    "what is made and about to start": (Look(status="created", is_held=True), True),
    "what is being removed": (Look(status="created", is_held=True, is_forgotten=True), False),
    "what ended": (Look(status="exited"), True),
    "what ended and was forgotten": (Look(status="exited", is_forgotten=True), False),
    "what was refused": (Look(has_ended=True), True),
    "what was refused, though its container is still there": (
        Look(status="created", has_ended=True),
        True,
    ),
    "what was refused and forgotten": (Look(has_ended=True, is_forgotten=True), False),
    "what a dying service prepared, so that it is started anew": (Look(), False),
    "what a dying service made, so that it is started anew": (Look(status="created"), False),
    "what Docker is removing": (Look(status="removing"), False),
}


@pytest.mark.parametrize("sentence", LISTED)
def test_who_is_listed(sentence: str) -> None:
    look, is_listed = LISTED[sentence]
    assert look.is_listed is is_listed
