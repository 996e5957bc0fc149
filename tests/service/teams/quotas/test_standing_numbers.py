"""Do the numbers of all teams of a pool fit together, whatever they hold?"""

from __future__ import annotations

from control_plane.queries.sharing_arithmetic import Holding, PoolShare, SharingRules, pool_shares
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.snapshot.cluster_state import TeamQuota

TEAMS = ("audio", "language", "speech", "vision")


@st.composite
def pools(draw: st.DrawFn) -> tuple[int, list[PoolShare]]:
    """A pool that keeps its promises and is not overfull; a team may lie below another."""
    quotas: list[TeamQuota] = []
    for number, team in reversed(list(enumerate(TEAMS))):
        below = sum(quota.guaranteed_gpus for quota in quotas if quota.parent == team)
        parent = draw(st.sampled_from((None, None, *TEAMS[:number])))
        guaranteed = below + draw(st.integers(0, 6))
        quotas.append(
            TeamQuota(team=team, pool="default", guaranteed_gpus=guaranteed, parent=parent)
        )
    held = {team: draw(st.integers(0, 12)) for team in TEAMS}
    promised = sum(quota.guaranteed_gpus for quota in quotas if quota.parent is None)
    gpus = max(promised, sum(held.values())) + draw(st.integers(0, 4))
    holdings = {
        team: Holding(demand=count + draw(st.integers(0, 4)), allocated=count)
        for team, count in held.items()
    }
    rules = SharingRules(
        usage_weight=draw(st.sampled_from((0.0, 1.0))), reclaims_fair_share=draw(st.booleans())
    )
    return gpus - promised, pool_shares(quotas, holdings, gpus=gpus, rules=rules)


@given(pools())
def test_what_is_lent_is_what_is_borrowed_beyond_the_unguaranteed_gpus(
    pool: tuple[int, list[PoolShare]],
) -> None:
    unguaranteed, rows = pool
    borrowed = sum(row.borrowed for row in rows)
    assert sum(row.lent for row in rows) == max(borrowed - unguaranteed, 0)


@given(pools())
def test_nobody_lends_and_borrows_at_once_or_more_than_it_has(
    pool: tuple[int, list[PoolShare]],
) -> None:
    for row in pool[1]:
        assert not (row.lent and row.borrowed)
        assert 0 <= row.lent <= max(row.guaranteed - row.allocated, 0)
        assert 0 <= row.borrowed <= row.allocated
        assert 0 <= row.reclaim_exposure <= row.allocated
    assert sorted(row.share_rank for row in pool[1]) == [1, 2, 3, 4]
