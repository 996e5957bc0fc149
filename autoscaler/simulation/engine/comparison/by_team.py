"""What did a simulation mean for each team? Waiting, completion, and what was borrowed and lent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.lending import borrowed_gpus, lent_gpus
from autoscaler.planning.teams.team_tree import TeamTree
from autoscaler.simulation.engine.results.summary import mean

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.results.records import (
        JobRecord,
        SimulationResult,
        UsageSample,
    )

_HOUR: Final = 3600.0


class TeamInPool(NamedTuple):
    """A team's own jobs in one pool."""

    team: str
    pool: str


class PausedJob(NamedTuple):
    """A job that was paused at least once."""

    team: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamOutcome:
    """How a team fared in a pool. None: no job gives the figure.

    `guaranteed_gpus` is what was set for the team and all below it; all else is of its own jobs.
    Waiting is the time from the submission to the first start. `completion_seconds` is the mean of
    finished jobs, waiting included.
    """

    guaranteed_gpus: int
    jobs: int
    finished: int
    wait_seconds: float | None
    completion_seconds: float | None
    gpu_hours: float
    borrowed_gpu_hours: float
    lent_gpu_hours: float
    paused_jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeByTeam:
    """One simulation: each team's outcome, and the jobs that were paused."""

    teams: Mapping[TeamInPool, TeamOutcome]
    paused: frozenset[PausedJob]


def outcome_by_team(result: SimulationResult, settings: Settings) -> OutcomeByTeam:
    """Return the outcome of every team that had jobs, or has a quota, in some pool."""
    jobs: defaultdict[TeamInPool, list[JobRecord]] = defaultdict(list)
    for job in result.jobs:
        jobs[TeamInPool(job.team, job.pool)].append(job)
    guaranteed = {TeamInPool(q.team, q.pool): q.guaranteed_gpus for q in settings.quotas}
    spent = _GpuSeconds.of(result, settings)
    concerned = {place for place, gpus in guaranteed.items() if gpus} | jobs.keys()
    return OutcomeByTeam(
        teams={
            place: _outcome(jobs[place], guaranteed.get(place, 0), place, spent)
            for place in sorted(concerned)
        },
        paused=frozenset(PausedJob(job.team, job.name) for job in result.jobs if job.pauses),
    )


def _outcome(
    jobs: list[JobRecord], guaranteed: int, place: TeamInPool, spent: _GpuSeconds
) -> TeamOutcome:
    waits = [j.first_started_at - j.submitted_at for j in jobs if j.first_started_at is not None]
    taken = [seconds for job in jobs if (seconds := job.completion_seconds) is not None]
    return TeamOutcome(
        guaranteed_gpus=guaranteed,
        jobs=len(jobs),
        finished=len(taken),
        wait_seconds=mean(waits),
        completion_seconds=mean(taken),
        gpu_hours=sum(job.gpu_seconds for job in jobs) / _HOUR,
        borrowed_gpu_hours=spent.borrowed[place] / _HOUR,
        lent_gpu_hours=spent.lent[place] / _HOUR,
        paused_jobs=sum(job.pauses > 0 for job in jobs),
    )


@dataclass(frozen=True, slots=True)
class _GpuSeconds:
    """What each team borrowed and lent of the pools, over time."""

    borrowed: defaultdict[TeamInPool, float] = field(default_factory=lambda: defaultdict(float))
    lent: defaultdict[TeamInPool, float] = field(default_factory=lambda: defaultdict(float))

    @classmethod
    def of(cls, result: SimulationResult, settings: Settings) -> _GpuSeconds:
        found = cls()
        for pool in settings.pools:
            teams = {job.team for job in result.jobs if job.pool == pool.name}
            quotas = {
                team: TeamQuota(team=team, pool=pool.name, guaranteed_gpus=0) for team in teams
            }
            quotas |= {one.team: one for one in settings.quotas if one.pool == pool.name}
            tree = TeamTree.of(quotas.values())
            gpus = sum(node.gpus for node in pool.nodes)
            samples = (sample for sample in result.usage if sample.pool == pool.name)
            for held, seconds in _lasting(samples, until=result.ended_at).items():
                holds = dict.fromkeys(quotas, 0) | dict(held)
                lent = lent_gpus(tree, holds, gpus=gpus)
                for team in quotas:
                    over = borrowed_gpus(tree.nodes[team], holds)
                    found.borrowed[TeamInPool(team, pool.name)] += over * seconds
                    found.lent[TeamInPool(team, pool.name)] += lent[team] * seconds
        return found


def _lasting(
    samples: Iterable[UsageSample], *, until: float
) -> Mapping[tuple[tuple[str, int], ...], float]:
    """Return for how long the teams of a pool held just so much, in seconds."""
    seconds: defaultdict[tuple[tuple[str, int], ...], float] = defaultdict(float)
    for held, lasts in _stretches(samples, until):
        seconds[held] += lasts
    return seconds


def _stretches(
    samples: Iterable[UsageSample], until: float
) -> Iterator[tuple[tuple[tuple[str, int], ...], float]]:
    held: tuple[tuple[str, int], ...] = ()
    since = 0.0
    for sample in samples:
        if held:
            yield held, sample.time - since
        held, since = tuple(sample.gpus_by_team.items()), sample.time
    if held:
        yield held, until - since
