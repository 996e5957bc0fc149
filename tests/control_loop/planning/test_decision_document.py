"""When does a decision say the same as the one stored? Also when its numbers moved a bit."""

from __future__ import annotations

from typing import Any, Final

import pytest

from autoscaler.control_loop.plan.decision_document import says_the_same

STORED: Final = {
    "message": "Keeps 2 workers.",
    "decided_at": "2026-01-01T00:00:00Z",
    "workers": 2,
    "replaces": None,
    "explanation": {"price": 0.5, "choices": [{"workers": 2, "value": 100}]},
}


def document(**changes: Any) -> dict[str, Any]:
    said = {name: value for name, value in STORED.items() if name != "decided_at"}
    return {**said, **changes}


def choice(value: float) -> dict[str, Any]:
    return {"price": 0.5, "choices": [{"workers": 2, "value": value}]}


@pytest.mark.parametrize("value", [100.0, 101.0, 99.0])
def test_a_value_that_moved_a_bit_is_no_news(value: float) -> None:
    assert says_the_same(document(explanation=choice(value)), STORED)


@pytest.mark.parametrize(
    "said",
    [
        document(explanation=choice(103.0)),
        document(message="Keeps 2 workers, for now."),
        document(workers=3),
        document(replaces="w1"),
        document(explanation={"price": 0.5, "choices": []}),
        document(explanation={"price": None, "choices": [{"workers": 2, "value": 100.0}]}),
        document(more=1),
    ],
)
def test_whatever_else_differs_is_news(said: dict[str, Any]) -> None:
    assert not says_the_same(said, STORED)


def test_a_moment_is_compared_by_the_minute() -> None:
    stored = {**STORED, "explanation": {"promised_at": 1.8e9}}
    assert says_the_same(document(explanation={"promised_at": 1.8e9 + 30}), stored)
    assert not says_the_same(document(explanation={"promised_at": 1.8e9 + 120}), stored)


def test_a_job_of_which_nothing_was_said_is_told() -> None:
    assert not says_the_same(document(), {})
