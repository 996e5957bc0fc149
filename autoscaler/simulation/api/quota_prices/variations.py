"""Which clusters tell what a guarantee is worth? It varies, and what hangs on it follows.

Pure: a cluster goes in, another comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tenancy.quota_rules import PromiseTree, Setting

from autoscaler.simulation.api.workloads import resized

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import TeamQuota
    from autoscaler.simulation.engine.replay.settings import Settings

USUAL_STEPS: Final = (-2, -1, 1, 2, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A cluster in which the guarantee has `gpus` more. `adds_gpus` of them the pool lacked."""

    gpus: int
    adds_gpus: int
    settings: Settings


def is_there(settings: Settings, *, team: str, pool: str) -> bool:
    return team in _inside(settings, pool) and any(one.name == pool for one in settings.pools)


def usual_steps(settings: Settings, *, team: str, pool: str) -> tuple[int, ...]:
    """Return the steps that nobody had to name: those of the usual ones that are possible."""
    least = -most_fewer(settings, team=team, pool=pool)
    return tuple(step for step in USUAL_STEPS if step >= least)


def most_fewer(settings: Settings, *, team: str, pool: str) -> int:
    """Return how many GPUs the guarantee may lose: what teams below are guaranteed stays."""
    tree, own = _tree(_inside(settings, pool)), _quota(settings, team, pool)
    return max(own.guaranteed_gpus - tree.promised_below(team), 0)


def with_more(settings: Settings, *, team: str, pool: str, gpus: int) -> Variation:
    """Return the cluster in which the team is guaranteed so many GPUs more; negative: fewer.

    They come from what the pool has promised to nobody. What is missing then the pool gets more. A
    limit, and the guarantees and limits of teams above, rise as far as they have to. A team without
    a guarantee of its own has what those below it have, and gets more than that.
    """
    here = _inside(settings, pool)
    has = _tree(here).promised(team) if gpus > 0 else here[team].guaranteed_gpus
    inside = {**here, team: _guaranteed(here[team], has + gpus)}
    for above in _teams_above(team, inside):
        inside[above] = _raised(inside[above], _tree(inside).promised_below(above))
    there = sum(node.gpus for one in settings.pools if one.name == pool for node in one.nodes)
    added = max(_tree(inside).total - there, 0) if gpus > 0 else 0
    pools = tuple(
        replace(one, nodes=resized(one, added)) if one.name == pool else one
        for one in settings.pools
    )
    return Variation(
        gpus=gpus,
        adds_gpus=added,
        settings=replace(settings, pools=pools, quotas=_with(settings, pool, inside)),
    )


def without_borrowing(settings: Settings, *, team: str, pool: str) -> Settings | None:
    """Return the cluster in which the team may hold its guarantee and no more.

    None: it has no guarantee, so all that it had was borrowed.
    """
    inside = _inside(settings, pool)
    most = _tree(inside).promised(team)
    if not most:
        return None
    own = inside[team]
    limit = most if own.limit_gpus is None else min(own.limit_gpus, most)
    return replace(
        settings,
        quotas=_with(settings, pool, {**inside, team: replace(own, limit_gpus=limit)}),
    )


def _guaranteed(quota: TeamQuota, gpus: int) -> TeamQuota:
    lends = quota.lending_limit_gpus
    return replace(
        _raised(replace(quota, guaranteed_gpus=gpus), gpus),
        lending_limit_gpus=None if lends is None else min(lends, gpus),
    )


def _raised(quota: TeamQuota, promised: int) -> TeamQuota:
    """Return the quota with room for what is promised; no guarantee says: what those below have."""
    guaranteed, limit = quota.guaranteed_gpus, quota.limit_gpus
    return replace(
        quota,
        guaranteed_gpus=max(guaranteed, promised) if guaranteed else 0,
        limit_gpus=None if limit is None else max(limit, promised),
    )


def _teams_above(team: str, inside: Mapping[str, TeamQuota]) -> Iterator[str]:
    above = inside[team].parent
    while above is not None and above in inside:
        yield above
        above = inside[above].parent


def _tree(inside: Mapping[str, TeamQuota]) -> PromiseTree:
    return PromiseTree(
        {
            name: Setting(
                guaranteed=one.guaranteed_gpus,
                limit=one.limit_gpus,
                lending_limit=one.lending_limit_gpus,
            )
            for name, one in inside.items()
        },
        {name: one.parent for name, one in inside.items()},
    )


def _inside(settings: Settings, pool: str) -> dict[str, TeamQuota]:
    return {one.team: one for one in settings.quotas if one.pool == pool}


def _quota(settings: Settings, team: str, pool: str) -> TeamQuota:
    return _inside(settings, pool)[team]


def _with(settings: Settings, pool: str, inside: Mapping[str, TeamQuota]) -> tuple[TeamQuota, ...]:
    changed: Sequence[TeamQuota] = settings.quotas
    return tuple(inside[one.team] if one.pool == pool else one for one in changed)
