"""Is it added up right what a simulation meant for each team, and compared right?"""

from __future__ import annotations

import json

from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.simulation.engine.comparison.before_after import (
    compared,
    from_document,
    newly_paused,
    to_document,
)
from autoscaler.simulation.engine.comparison.by_team import (
    OutcomeByTeam,
    PausedJob,
    TeamInPool,
    outcome_by_team,
)
from autoscaler.simulation.engine.replay.settings import Settings
from autoscaler.simulation.engine.results.records import UsageSample
from tests.simulation.made_results import record, result

VISION, LANGUAGE = TeamInPool("vision", "default"), TeamInPool("language", "default")
HOUR = 3600.0


def settings(**guaranteed: int) -> Settings:
    return Settings(
        pools=(PlannedPool(name="default", nodes=(PlannedNode(name="n", gpus=4),)),),
        quotas=tuple(
            TeamQuota(team=team, pool="default", guaranteed_gpus=gpus)
            for team, gpus in guaranteed.items()
        ),
    )


def held(hours: float, **gpus: int) -> UsageSample:
    return UsageSample(
        time=hours * HOUR, pool="default", gpus_by_team=gpus, waiting_by_team={}, speedup=0.0
    )


def outcome(*samples: UsageSample, ends: float, **guaranteed: int) -> OutcomeByTeam:
    past = result(record(), usage=samples, ended_at=ends * HOUR)
    return outcome_by_team(past, settings(**guaranteed))


def test_what_a_team_holds_beyond_its_guarantee_is_borrowed_from_whoever_is_idle() -> None:
    found = outcome(
        held(0, vision=3), held(1, vision=4), held(3), ends=9, vision=2, language=2
    ).teams
    assert (found[VISION].borrowed_gpu_hours, found[VISION].lent_gpu_hours) == (1 + 2 * 2, 0)
    assert (found[LANGUAGE].borrowed_gpu_hours, found[LANGUAGE].lent_gpu_hours) == (0, 5)


def test_gpus_that_nobody_is_guaranteed_are_lent_by_nobody() -> None:
    found = outcome(held(0, vision=3), ends=2, vision=2, language=1).teams
    assert (found[VISION].borrowed_gpu_hours, found[LANGUAGE].lent_gpu_hours) == (2, 0)


def test_a_team_that_is_in_no_quota_borrows_all_that_it_holds() -> None:
    found = outcome(held(0, vision=3), ends=1, language=4).teams
    assert (found[VISION].borrowed_gpu_hours, found[LANGUAGE].lent_gpu_hours) == (3, 3)


def test_waits_and_completion_are_means_of_the_teams_own_jobs() -> None:
    past = result(
        record("a"),
        record("b", first_started_at=30.0, finished_at=200.0, pauses=2),
        record("waits", first_started_at=None, finished_at=None),
        record("theirs", team="language", first_started_at=90.0),
    )
    found = outcome_by_team(past, settings(vision=2))
    vision = found.teams[VISION]
    assert (vision.jobs, vision.finished, vision.paused_jobs) == (3, 2, 1)
    assert (vision.wait_seconds, vision.completion_seconds) == (20.0, 150.0)
    assert found.teams[LANGUAGE].wait_seconds == 90.0
    assert found.paused == {PausedJob("vision", "b")}


def test_a_team_with_a_guarantee_and_without_jobs_has_no_times() -> None:
    found = outcome_by_team(result(record()), settings(language=2)).teams[LANGUAGE]
    assert (found.jobs, found.wait_seconds, found.completion_seconds) == (0, None, None)


def test_only_jobs_that_the_change_paused_are_named() -> None:
    def paused(*names: str) -> OutcomeByTeam:
        return OutcomeByTeam(teams={}, paused=frozenset(PausedJob("vision", n) for n in names))

    assert newly_paused(paused("a", "b"), paused("d", "b", "c")) == (
        PausedJob("vision", "c"),
        PausedJob("vision", "d"),
    )


def test_a_team_that_is_on_one_side_only_is_compared_with_nothing() -> None:
    before = outcome(ends=1, vision=2, language=2)
    after = outcome(ends=1, vision=4)
    rows = {one.place: (one.before is None, one.after is None) for one in compared(before, after)}
    assert rows == {LANGUAGE: (False, True), VISION: (False, False)}


def test_what_is_stored_is_read_without_loss() -> None:
    past = result(record(pauses=1), usage=(held(0, vision=3),), ended_at=HOUR)
    found = outcome_by_team(past, settings(vision=1, language=2))
    assert from_document(json.loads(json.dumps(to_document(found)))) == found
