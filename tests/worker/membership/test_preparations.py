"""Which group belongs to a plan that arrives while members get into the one before, one by one."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from concertina_worker.collective.group import Group
from concertina_worker.collective.wires import Wires
from concertina_worker.membership.coordinator_link.preparations import Preparations, PreparedPlan
from concertina_worker.plan import GenerationPlan
from tests.worker.gathering import a_plan

PATIENCE_SECONDS = 90.0
OLD = a_plan("ab")
RECOVERY = replace(a_plan("ab", is_recovery=True), generation=2)
GROWN = replace(a_plan("abc", "c"), generation=2)
NEXT = replace(OLD, generation=3, global_batch_size=5)
JOINING = replace(a_plan("ba", "a"), generation=2)
FOLLOWING = {  # on JOINING, once b is in
    "another batch": replace(JOINING, generation=3, joiners=(), global_batch_size=5),
    "another worker": replace(a_plan("bac", "c"), generation=3),
    "one worker less": replace(a_plan("b"), generation=3),
    "no worker": replace(a_plan(""), generation=3),
}


class Builders:
    """Builds for one worker; remembers which plans."""

    def __init__(self) -> None:
        self.built: list[GenerationPlan] = []
        self.may_build = threading.Event()
        self.may_build.set()
        self.preparations = Preparations("a", self._build)

    def _build(self, plan: GenerationPlan, wires: Wires) -> Group:
        assert self.may_build.wait(PATIENCE_SECONDS)
        if wires.are_cut:
            raise RuntimeError("it is not worth while any more")
        self.built.append(plan)
        return Group(plan=plan, worker="a", wires=wires)

    def get_in(self, plan: GenerationPlan) -> Group:
        """As a member of this plan, whatever has been published since."""
        group = Group(plan=plan, worker="a")
        self.preparations.stand_in(group)
        return group

    def prepared_for(self, plan: GenerationPlan) -> PreparedPlan:
        found = self.preparations.await_prepared(
            lambda prepared: prepared.plan == plan, timeout_seconds=PATIENCE_SECONDS
        )
        assert found is not None
        return found


@pytest.fixture
def builders() -> Builders:
    return Builders()


def test_a_plan_for_the_members_of_a_recovery_keeps_its_group_whenever_it_arrives(
    builders: Builders,
) -> None:
    preparations = builders.preparations
    builders.get_in(OLD)
    preparations.stand_in(None)  # a member was lost
    preparations.take(RECOVERY)
    builders.prepared_for(RECOVERY)
    preparations.take(NEXT)  # others are in already
    recovered = builders.get_in(RECOVERY)
    prepared = builders.prepared_for(NEXT)
    assert prepared.group is not None
    assert prepared.group.wires is recovered.wires
    assert builders.built == [RECOVERY]


def test_a_plan_for_the_members_before_a_growth_is_built_whenever_it_arrives(
    builders: Builders,
) -> None:
    old = builders.get_in(OLD)
    builders.preparations.take(NEXT)  # others have switched to `GROWN` already
    builders.get_in(GROWN)
    prepared = builders.prepared_for(NEXT)
    assert builders.built == [NEXT]
    assert prepared.group is not None
    assert prepared.group.wires is not old.wires


@pytest.mark.parametrize("following", FOLLOWING.values(), ids=FOLLOWING)
@pytest.mark.parametrize("is_built_late", [False, True])
def test_a_joiner_gets_in_by_its_plan_although_the_next_one_is_there(
    builders: Builders, following: GenerationPlan, *, is_built_late: bool
) -> None:
    preparations = builders.preparations
    if is_built_late:
        builders.may_build.clear()
    preparations.take(JOINING)
    if not is_built_late:
        builders.prepared_for(JOINING)
    preparations.take(following)  # b is in already, and waits for it
    builders.may_build.set()
    joined = builders.prepared_for(JOINING).group
    assert joined is not None
    assert not joined.wires.are_cut
    preparations.stand_in(joined)
    builders.prepared_for(following)


@pytest.mark.parametrize("is_recovery", [False, True])
def test_a_joiner_takes_another_plan_that_lets_it_in(
    builders: Builders, *, is_recovery: bool
) -> None:
    preparations = builders.preparations
    joiners = "" if is_recovery else "a"
    instead = replace(a_plan("ba", joiners, is_recovery=is_recovery), generation=3)
    builders.may_build.clear()
    preparations.take(JOINING)
    preparations.take(instead)
    builders.may_build.set()
    builders.prepared_for(instead)
    assert builders.built == [instead]


def test_a_joiner_gets_in_by_the_plan_that_took_the_place_of_another(builders: Builders) -> None:
    """Whatever follows on that one."""
    preparations = builders.preparations
    instead = replace(JOINING, generation=3)
    following = replace(JOINING, generation=4, joiners=(), global_batch_size=5)
    builders.may_build.clear()
    preparations.take(JOINING)
    preparations.take(instead)
    preparations.take(following)  # b is in already
    assert preparations.is_given_up(JOINING)
    assert not preparations.is_given_up(instead)
    builders.may_build.set()
    builders.prepared_for(instead)
    assert builders.built == [instead]


def test_a_joiner_gives_a_plan_up_only_for_one_that_takes_its_place(builders: Builders) -> None:
    preparations = builders.preparations
    joining = replace(a_plan("ba", "a"), generation=1)
    preparations.take(joining)
    preparations.take(replace(a_plan("ba"), generation=2))  # b is in already, and waits for it
    preparations.take(replace(a_plan(""), generation=3))  # as are all when everybody is to leave
    assert not preparations.is_given_up(joining)
    preparations.take(replace(joining, generation=4))
    assert preparations.is_given_up(joining)
