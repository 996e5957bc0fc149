"""Which cluster has a guarantee with some GPUs more, or fewer? What hangs on it follows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tenancy.quota_rules import PromiseTree, Setting, problems_of_all

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.simulation.api.quota_prices.variations import (
    most_fewer,
    usual_steps,
    with_more,
    without_borrowing,
)
from autoscaler.simulation.engine.replay.settings import Settings

POOL = "default"


def quota(team: str, guaranteed: int, *, parent: str | None = None, **more: int) -> TeamQuota:
    return TeamQuota(team=team, pool=POOL, guaranteed_gpus=guaranteed, parent=parent, **more)


def cluster(*quotas: TeamQuota, gpus: int = 8) -> Settings:
    nodes = (PlannedNode(name="n1", gpus=gpus),)
    return Settings(
        pools=(PlannedPool(name=POOL, nodes=nodes),),
        policies=installed_policies(),
        quotas=(*quotas, TeamQuota(team="vision", pool="other", guaranteed_gpus=1)),
    )


def guaranteed(settings: Settings) -> dict[str, int]:
    return {one.team: one.guaranteed_gpus for one in settings.quotas if one.pool == POOL}


def gpus(settings: Settings) -> int:
    return sum(node.gpus for node in settings.pools[0].nodes)


def test_more_come_from_what_nobody_is_promised_and_then_the_pool_grows() -> None:
    here = cluster(quota("vision", 2), quota("language", 4))
    for more, added in ((1, 0), (2, 0), (3, 1), (5, 3)):
        varied = with_more(here, team="vision", pool=POOL, gpus=more)
        assert (varied.gpus, varied.adds_gpus, gpus(varied.settings)) == (more, added, 8 + added)
        assert guaranteed(varied.settings) == {"vision": 2 + more, "language": 4}


def test_fewer_leave_the_pool_as_it_is() -> None:
    here = cluster(quota("vision", 6), quota("language", 6))  # more is promised than is there
    varied = with_more(here, team="vision", pool=POOL, gpus=-2)
    assert (varied.adds_gpus, gpus(varied.settings)) == (0, 8)
    assert guaranteed(varied.settings) == {"vision": 4, "language": 6}


def test_limits_and_teams_above_rise_as_far_as_they_have_to() -> None:
    here = cluster(
        quota("research", 4, limit_gpus=4),
        quota("vision", 2, parent="research", limit_gpus=2, lending_limit_gpus=2),
        quota("language", 2, parent="research"),
    )
    more = {
        one.team: one
        for one in with_more(here, team="vision", pool=POOL, gpus=1).settings.quotas[:3]
    }
    assert (more["vision"].guaranteed_gpus, more["vision"].limit_gpus) == (3, 3)
    assert (more["research"].guaranteed_gpus, more["research"].limit_gpus) == (5, 5)
    assert more["language"].guaranteed_gpus == 2
    fewer = with_more(here, team="vision", pool=POOL, gpus=-1).settings.quotas
    assert fewer[1].lending_limit_gpus == 1
    assert fewer[0].guaranteed_gpus == 4


def test_who_has_what_those_below_have_gets_more_than_that() -> None:
    here = cluster(quota("research", 0), quota("vision", 3, parent="research"), gpus=4)
    varied = with_more(here, team="research", pool=POOL, gpus=2)
    assert guaranteed(varied.settings) == {"research": 5, "vision": 3}
    assert (varied.adds_gpus, gpus(varied.settings)) == (1, 5)


def test_what_teams_below_are_guaranteed_stays() -> None:
    here = cluster(quota("research", 4), quota("vision", 3, parent="research"))
    assert most_fewer(here, team="research", pool=POOL) == 1
    assert usual_steps(here, team="research", pool=POOL) == (-1, 1, 2, 4)
    assert usual_steps(cluster(quota("vision", 0)), team="vision", pool=POOL) == (1, 2, 4)


def test_without_borrowing_it_may_hold_what_is_promised_to_it() -> None:
    alone = without_borrowing(cluster(quota("vision", 3, limit_gpus=6)), team="vision", pool=POOL)
    assert alone is not None
    assert [one.limit_gpus for one in alone.quotas] == [3, None]
    assert without_borrowing(cluster(quota("vision", 0)), team="vision", pool=POOL) is None
    above = cluster(quota("research", 0), quota("vision", 2, parent="research"))
    alone = without_borrowing(above, team="research", pool=POOL)
    assert alone is not None
    assert alone.quotas[0].limit_gpus == 2


SIZES = st.integers(0, 12)


@given(
    top=SIZES,
    one=SIZES,
    other=SIZES,
    size=st.integers(1, 40),
    more=st.integers(-12, 12),
    team=st.sampled_from(["top", "one"]),
)
def test_what_could_be_saved_can_be_saved_afterwards(
    *, top: int, one: int, other: int, size: int, more: int, team: str
) -> None:
    here = cluster(
        quota("top", top),
        quota("one", one, parent="top"),
        quota("other", other, parent="top"),
        gpus=size,
    )
    if list(problems_of_all(tree(here))) or tree(here).total > size:
        return
    if not more or more < -most_fewer(here, team=team, pool=POOL):
        return
    varied = with_more(here, team=team, pool=POOL, gpus=more).settings
    assert list(problems_of_all(tree(varied))) == []
    assert tree(varied).total <= gpus(varied)
    assert tree(varied).promised(team) == tree(here).promised(team) + more


def tree(settings: Settings) -> PromiseTree:
    inside = [one for one in settings.quotas if one.pool == POOL]
    return PromiseTree(
        {
            one.team: Setting(
                guaranteed=one.guaranteed_gpus,
                limit=one.limit_gpus,
                lending_limit=one.lending_limit_gpus,
            )
            for one in inside
        },
        {one.team: one.parent for one in inside},
    )


def test_other_pools_stay_as_they_are() -> None:
    here = cluster(quota("vision", 2))
    varied = with_more(here, team="vision", pool=POOL, gpus=9).settings
    assert [one for one in varied.quotas if one.pool == "other"] == [here.quotas[-1]]
