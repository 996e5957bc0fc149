"""Are the jobs found that make a computation fail, and the others let through, in few tries?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.quarantine.culprits import MOST_TRIES, CulpritReport, culprits
from autoscaler.planning.quarantine.standing_still import standing_still, with_only
from autoscaler.planning.snapshot.cluster_state import JobPhase
from tests.planning.builders import cluster, running, waiting

NAMES = [f"j{number}" for number in range(64)]
TEAMS = ["a", "b", "c", "d"]


def search(
    bad: set[str], *, teams: dict[str, str], most_tries: int = 10_000
) -> tuple[CulpritReport, int]:
    tries: list[frozenset[str]] = []

    def attempt(job_ids: frozenset[str]) -> Exception | None:
        tries.append(job_ids)
        return ValueError("bad") if bad & job_ids else None

    jobs = [waiting(name, team) for name, team in teams.items()]
    found = culprits(jobs, attempt, known=ValueError("known"), most_tries=most_tries)
    return found, len(tries)


@given(
    bad=st.sets(st.sampled_from(NAMES), min_size=1),
    teams=st.fixed_dictionaries({name: st.sampled_from(TEAMS) for name in NAMES}),
)
def test_exactly_the_bad_jobs_are_found(bad: set[str], teams: dict[str, str]) -> None:
    found, _ = search(bad, teams=teams)
    assert set(found.failing) == bad
    assert found.sound == set(NAMES) - bad


def test_one_bad_job_among_a_thousand_is_found_in_a_few_tries() -> None:
    names = [f"j{number:04}" for number in range(1000)]
    found, tries = search({"j0500"}, teams=dict.fromkeys(names, "a"), most_tries=MOST_TRIES)
    assert set(found.failing) == {"j0500"}
    assert len(found.sound) == 999
    assert tries <= 20


def test_a_team_of_bad_jobs_takes_no_other_team_along_when_the_tries_are_used_up() -> None:
    teams = {f"{team}{number:03}": team for team in "abcdefgh" for number in range(100)}
    bad = {name for name, team in teams.items() if team == "c"}
    found, tries = search(bad, teams=teams, most_tries=MOST_TRIES)
    assert set(found.failing) == bad
    assert found.sound == teams.keys() - bad
    assert tries <= MOST_TRIES


def test_a_job_that_stands_still_keeps_what_it_holds_and_nothing_else_of_it_is_read() -> None:
    busy = running("busy", 2, gpus_per_worker=2, user="ann")
    still = standing_still(busy)
    assert still is not None
    assert still.allocation is not None
    assert still.allocation.workers_by_node == (("n1", 2),)
    assert (still.phase, still.team, still.gpus_per_worker) == (JobPhase.ACTIVE, busy.team, 2)
    assert (still.can_rescale, still.can_pause, still.scaling) == (False, True, None)
    assert still.user == "ann"  # whose limit it counts for
    assert standing_still(waiting("queued")) is None
    state = cluster(busy, waiting("queued"))
    assert [one.job_id for one in with_only(state, frozenset()).jobs] == ["busy"]
    assert with_only(state, frozenset({"busy", "queued"})) == state
