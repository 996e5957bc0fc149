"""What all members know of the steps to come, from nothing but sums they share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from concertina_worker.membership.agreement import AgreedSums, SwitchOffer
from concertina_worker.membership.coming_steps import ComingSteps
from concertina_worker.membership.coordinator_link.preparations import PreparedPlan
from tests.worker.gathering import a_plan


@pytest.fixture
def coming() -> ComingSteps:
    """Of `a`, in generation 1: it trains with `b`, and `c` lacks the state."""
    steps = ComingSteps("a")
    steps.begin(a_plan("abc", "c"), step=10)
    return steps


def later(generation: int, members: str) -> PreparedPlan:
    return PreparedPlan(plan=replace(a_plan(members), generation=generation), group=None)


def all_three(offer: SwitchOffer) -> AgreedSums:
    return AgreedSums(deltas=3.0 * offer.delta, squares=3.0 * offer.delta**2, arrived=3.0)


def test_joiners_compute_from_the_first_step_that_nobody_has_loaded(coming: ComingSteps) -> None:
    still_missing = replace(all_three(SwitchOffer()), arrived=2.0)
    coming.decide(still_missing, first_step=12)
    assert coming.awaits_joiners
    coming.decide(all_three(SwitchOffer()), first_step=13)
    assert not coming.awaits_joiners
    assert [coming.step_plan.at(step).workers for step in (12, 13)] == [("a", "b"), ("a", "b", "c")]


@pytest.mark.parametrize(("step", "is_epoch_new"), [(20, False), (16, True)])
def test_a_switch_waits_for_what_is_loaded_or_the_end_of_the_epoch(
    coming: ComingSteps, *, step: int, is_epoch_new: bool
) -> None:
    wanted = later(3, "ab")
    coming.decide(all_three(coming.offer(wanted, generation=1)), first_step=20)
    assert coming.take_due(step=19, is_epoch_new=False) is None
    assert coming.step_plan.at(20).workers == ("a", "b")
    assert coming.take_due(step=step, is_epoch_new=is_epoch_new) is wanted
    assert not coming.is_switch_agreed


def test_nothing_else_is_offered_once_a_switch_is_agreed_on(coming: ComingSteps) -> None:
    coming.decide(all_three(coming.offer(later(2, "ab"), generation=1)), first_step=20)
    assert coming.offer(later(3, "a"), generation=1) == SwitchOffer()
    coming.give_up()
    assert coming.offer(later(3, "a"), generation=1) == SwitchOffer(2)


def test_a_plan_to_recover_by_is_not_offered(coming: ComingSteps) -> None:
    plan = replace(a_plan("ab", is_recovery=True), generation=2)
    assert coming.offer(PreparedPlan(plan=plan, group=None), generation=1) == SwitchOffer()


def test_an_offer_that_only_some_make_decides_nothing(coming: ComingSteps) -> None:
    offer = coming.offer(later(2, "ab"), generation=1)
    coming.decide(replace(all_three(offer), deltas=2.0, squares=2.0), first_step=20)
    assert not coming.is_switch_agreed
