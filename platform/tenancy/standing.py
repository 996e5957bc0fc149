"""How does each team stand in a pool: what is its own, what is fair now, what is lent?

Pure arithmetic over one pool. The fair share is weighted max-min: first every team gets what it
wants up to its guarantee; what is left rises like water in vessels as wide as the teams' weights,
and a team whose demand (or limit) is met takes no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_EPSILON = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a team may have, wants and has of one pool, in GPUs."""

    team: str
    guaranteed: int
    limit: int | None
    weight: float
    demand: int  # what its live jobs could use at most
    allocated: int

    @property
    def usable(self) -> int:
        return self.demand if self.limit is None else min(self.demand, self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The four numbers of a team that belong together, and where its GPUs come from or go."""

    team: str
    guaranteed: int
    limit: int | None
    fair_share: float
    allocated: int
    borrowed: int
    lent: int


def standings(*, gpus: int, claims: Sequence[Claim]) -> list[Standing]:
    """Return each team's standing in a pool of so many GPUs, in the order of the claims."""
    shares = fair_shares(gpus=gpus, claims=claims)
    lent = lent_gpus(gpus=gpus, claims=claims)
    return [
        Standing(
            team=claim.team,
            guaranteed=claim.guaranteed,
            limit=claim.limit,
            fair_share=round(shares[claim.team], 2),
            allocated=claim.allocated,
            borrowed=max(claim.allocated - claim.guaranteed, 0),
            lent=lent[claim.team],
        )
        for claim in claims
    ]


def fair_shares(*, gpus: int, claims: Sequence[Claim]) -> dict[str, float]:
    """Weighted max-min fair shares. They never exceed demand, limits or, in sum, the pool."""
    shares = {claim.team: float(min(claim.guaranteed, claim.usable)) for claim in claims}
    left = gpus - sum(shares.values())
    thirsty = [c for c in claims if c.weight > _EPSILON and c.usable - shares[c.team] > _EPSILON]
    while thirsty and left > _EPSILON:
        width = sum(claim.weight for claim in thirsty)
        until_met = min((c.usable - shares[c.team]) / c.weight for c in thirsty)
        rise = min(left / width, until_met)
        for claim in thirsty:
            shares[claim.team] += rise * claim.weight
        left -= rise * width
        thirsty = [c for c in thirsty if c.usable - shares[c.team] > _EPSILON]
    return shares


def lent_gpus(*, gpus: int, claims: Sequence[Claim]) -> Mapping[str, int]:
    """Who lends how much. Borrowers use unguaranteed GPUs first, then the idlest team's."""
    unguaranteed = max(gpus - sum(claim.guaranteed for claim in claims), 0)
    borrowed = sum(max(claim.allocated - claim.guaranteed, 0) for claim in claims)
    idle = {claim.team: max(claim.guaranteed - claim.allocated, 0) for claim in claims}
    lent = dict.fromkeys(idle, 0)
    for _ in range(min(max(borrowed - unguaranteed, 0), sum(idle.values()))):
        team = max(idle, key=lambda name: idle[name] - lent[name])
        lent[team] += 1
    return lent
