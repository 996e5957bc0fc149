"""How is a preview carried out? The past is replayed twice, or once where one half is known."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from autoscaler.simulation.api import commands
from autoscaler.simulation.api.commands import Signs
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import base_runs
from autoscaler.simulation.api.previews.clusters import clusters_for
from autoscaler.simulation.api.previews.pacing import paced
from autoscaler.simulation.engine.comparison.before_after import compared, newly_paused
from autoscaler.simulation.engine.comparison.by_team import outcome_by_team
from autoscaler.simulation.engine.replay.simulator import run

if TYPE_CHECKING:
    from autoscaler.simulation.api.previews.base_runs import KnownPast
    from autoscaler.simulation.engine.comparison.by_team import OutcomeByTeam

MOST_PAUSED_NAMED: Final = 1000


def carry_out(simulation: Simulation) -> None:
    clusters = clusters_for(simulation.request)
    if clusters.digest != simulation.digest:  # the cluster has changed while the preview waited
        Simulation.objects.filter(pk=simulation.pk).update(digest=clusters.digest)
    past = base_runs.past_for(clusters.now, days=simulation.request["days"], runs=2)
    runs = 1 if past.outcome is not None else 2
    signs = Signs(simulation, total=len(past.trace.jobs) * runs)
    before = past.outcome or base_runs.replayed(past, clusters.now, signs.after(0))
    settings = paced(clusters.after, past.trace)
    result = run(past.trace, settings, on_progress=signs.after(runs - 1))
    after = outcome_by_team(result, clusters.after)
    commands.complete(simulation, result=_document(past, before, after))


def _document(past: KnownPast, before: OutcomeByTeam, after: OutcomeByTeam) -> dict[str, Any]:
    paused = newly_paused(before, after)
    return {
        "until": past.made_at.isoformat(),
        "jobs": len(past.trace.jobs),
        "teams": [
            {
                "team": one.place.team,
                "pool": one.place.pool,
                "before": asdict(one.before) if one.before else None,
                "after": asdict(one.after) if one.after else None,
            }
            for one in compared(before, after)
        ],
        "paused": [job._asdict() for job in paused[:MOST_PAUSED_NAMED]],
    }
