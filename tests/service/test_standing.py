"""Is the standing of teams in a pool what fairness demands?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tenancy.standing import Claim, fair_shares, lent_gpus, standings


def claim(team: str, **changes: float | None) -> Claim:
    fields = {
        "guaranteed": 0,
        "limit": None,
        "weight": 1.0,
        "demand": 100,
        "allocated": 0,
        **changes,
    }
    return Claim(team=team, **fields)  # type: ignore[arg-type]  # the fields differ in type


SHARES: dict[str, tuple[int, list[Claim], dict[str, float]]] = {
    "equal teams without guarantees share equally": (
        8, [claim("a"), claim("b")], {"a": 4, "b": 4}),
    "a guarantee comes first, the rest is shared": (
        8, [claim("a", guaranteed=4), claim("b")], {"a": 6, "b": 2}),
    "weights widen a share beyond the guarantee": (
        8, [claim("a", weight=3.0), claim("b")], {"a": 6, "b": 2}),
    "a team of no weight gets its guarantee only": (
        8, [claim("a", guaranteed=2, weight=0.0), claim("b")], {"a": 2, "b": 6}),
    "a weight too small to divide by is none": (
        8, [claim("a", weight=2.3e-309), claim("b", demand=3)], {"a": 0, "b": 3}),
    "who wants little leaves the rest to others": (
        8, [claim("a", demand=1), claim("b")], {"a": 1, "b": 7}),
    "who wants nothing gets nothing, whatever is guaranteed": (
        8, [claim("a", guaranteed=4, demand=0), claim("b")], {"a": 0, "b": 8}),
    "a limit caps a share": (8, [claim("a", limit=3), claim("b")], {"a": 3, "b": 5}),
    "demand below supply is met": (
        8, [claim("a", demand=2), claim("b", demand=3)], {"a": 2, "b": 3}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SHARES)
def test_fair_shares(sentence: str) -> None:
    gpus, claims, expected = SHARES[sentence]
    assert fair_shares(gpus=gpus, claims=claims) == pytest.approx(expected)


@given(
    gpus=st.integers(0, 64),
    claims=st.lists(
        st.builds(
            claim,
            st.uuids().map(str),
            guaranteed=st.integers(0, 8),
            limit=st.none() | st.integers(8, 20),
            weight=st.just(0.0) | st.floats(0.001, 5),
            demand=st.integers(0, 40),
            allocated=st.integers(0, 10),
        ),
        max_size=7,
    ),
)
def test_shares_respect_pool_demand_limit_and_guarantee(gpus: int, claims: list[Claim]) -> None:
    promised = sum(claim.guaranteed for claim in claims)
    gpus = max(gpus, promised)  # as quotas are checked
    shares = fair_shares(gpus=gpus, claims=claims)
    assert sum(shares.values()) <= gpus + 1e-6
    for one in claims:
        assert shares[one.team] <= one.usable + 1e-6
        assert shares[one.team] >= min(one.guaranteed, one.usable) - 1e-6
    wanted = sum(one.usable for one in claims if one.weight > 0)
    held = sum(shares[one.team] for one in claims if one.weight > 0)
    fixed = sum(shares[one.team] for one in claims if one.weight <= 0)
    assert held == pytest.approx(min(wanted, gpus - fixed))


@given(
    gpus=st.integers(0, 40),
    rows=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12)), max_size=6),
)
def test_what_is_lent_is_idle_and_borrowed_by_somebody(
    gpus: int, rows: list[tuple[int, int]]
) -> None:
    claims = [
        claim(str(number), guaranteed=guaranteed, allocated=allocated)
        for number, (guaranteed, allocated) in enumerate(rows)
    ]
    lent = lent_gpus(gpus=gpus, claims=claims)
    borrowed = sum(max(one.allocated - one.guaranteed, 0) for one in claims)
    assert sum(lent.values()) <= borrowed
    for one in claims:
        assert 0 <= lent[one.team] <= max(one.guaranteed - one.allocated, 0)


def test_borrowers_take_unguaranteed_gpus_before_anybody_lends() -> None:
    claims = [
        claim("a", guaranteed=2, allocated=5),
        claim("b", guaranteed=3, allocated=1),
        claim("c", guaranteed=1, allocated=0),
    ]
    rows = {row.team: row for row in standings(gpus=7, claims=claims)}
    assert (rows["a"].borrowed, rows["a"].lent) == (3, 0)
    assert rows["b"].lent + rows["c"].lent == 2  # the third borrowed GPU was nobody's
    assert rows["b"].lent >= rows["c"].lent
