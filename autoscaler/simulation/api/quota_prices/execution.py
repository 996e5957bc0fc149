"""How is the price of a guarantee found? The past is replayed once for each step."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autoscaler.simulation.api import commands
from autoscaler.simulation.api.commands import Signs
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import base_runs
from autoscaler.simulation.api.previews.clusters import cluster_now
from autoscaler.simulation.api.previews.pacing import paced
from autoscaler.simulation.api.quota_prices.asking import PriceQuestion
from autoscaler.simulation.api.quota_prices.variations import with_more, without_borrowing
from autoscaler.simulation.engine.comparison.before_after import compared, job_hours_saved
from autoscaler.simulation.engine.comparison.by_team import TeamInPool, outcome_by_team
from autoscaler.simulation.engine.replay.simulator import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from autoscaler.simulation.api.previews.base_runs import KnownPast
    from autoscaler.simulation.engine.comparison.before_after import BeforeAfter
    from autoscaler.simulation.engine.comparison.by_team import OutcomeByTeam
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.results.records import SimulationProgress


def carry_out(simulation: Simulation) -> None:
    asked = PriceQuestion(**simulation.request)
    cluster = cluster_now(days=asked.days)
    asked.check(cluster)
    digest = asked.digest(cluster)
    if digest != simulation.digest:  # the cluster has changed while the question waited
        Simulation.objects.filter(pk=simulation.pk).update(digest=digest)
    place = TeamInPool(asked.team, asked.pool)
    past = base_runs.past_for(cluster, days=asked.days, runs=asked.runs)
    replays = _Replays(simulation, past, runs=asked.runs)
    now = past.outcome or base_runs.replayed(past, cluster, replays.next_sign())
    alone = without_borrowing(cluster.settings, team=place.team, pool=place.pool)
    kept = replays.outcome(alone) if alone else None
    varied = [
        with_more(cluster.settings, team=place.team, pool=place.pool, gpus=gpus)
        for gpus in asked.steps
    ]
    rows = [
        {
            "gpus": one.gpus,
            "adds_gpus": one.adds_gpus,
            **_told(place, now, replays.outcome(one.settings)),
        }
        for one in varied
    ]
    result = {
        "until": past.made_at.isoformat(),
        "jobs": len(past.trace.jobs),
        "now": asdict(now.teams[place]) if place in now.teams else None,
        "without_borrowing": _told(place, now, kept) if kept else None,
        "steps": rows,
    }
    commands.complete(simulation, result=result)


class _Replays:
    """The replays of one past, which tell how far all of them are."""

    def __init__(self, simulation: Simulation, past: KnownPast, *, runs: int) -> None:
        self._past = past
        self._signs = Signs(simulation, total=len(past.trace.jobs) * runs)
        self._begun = 0 if past.outcome is None else 1

    def next_sign(self) -> Callable[[SimulationProgress], None]:
        self._begun += 1
        return self._signs.after(self._begun - 1)

    def outcome(self, settings: Settings) -> OutcomeByTeam:
        told = self.next_sign()
        result = run(self._past.trace, paced(settings, self._past.trace), on_progress=told)
        return outcome_by_team(result, settings)


def _told(place: TeamInPool, now: OutcomeByTeam, then: OutcomeByTeam) -> dict[str, Any]:
    """Return what became of the team, and of each other one in the pool that it changed."""
    rows = {one.place: one for one in compared(now, then) if one.place.pool == place.pool}
    own = rows.pop(place, None)
    return {
        "team": asdict(own.after) if own and own.after else None,
        "job_hours_saved": job_hours_saved(own) if own else None,
        "others": list(_changed(rows.values())),
    }


def _changed(rows: Iterable[BeforeAfter]) -> Iterator[dict[str, Any]]:
    for one in rows:
        if one.before != one.after:
            yield {"team": one.place.team, "job_hours_saved": job_hours_saved(one)}
