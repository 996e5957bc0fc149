"""Who wants to know what a guarantee is worth? Which steps can be asked about?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tenancy.access.principal import Principal

from autoscaler.simulation.api.errors import WorkloadRefused
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import asking
from autoscaler.simulation.api.previews.clusters import ClusterNow, digest_of
from autoscaler.simulation.api.quota_prices import variations

FIXED_RUNS: Final = 2  # as it is, and without borrowing


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuestion:
    """Whose guarantee in which pool varies by how many GPUs, over how many days of the past."""

    team: str
    pool: str
    steps: Sequence[int]
    days: float

    @property
    def runs(self) -> int:
        return FIXED_RUNS + len(self.steps)

    def digest(self, now: ClusterNow) -> str:
        return digest_of((now.digest, self.team, self.pool, tuple(self.steps)), now.settings)

    def check(self, now: ClusterNow) -> None:
        """See that the cluster has what is asked about.

        Raises:
            WorkloadRefused: no such team in the pool, or a step takes away more than it may.
        """
        if not variations.is_there(now.settings, team=self.team, pool=self.pool):
            raise WorkloadRefused(f"There is no team {self.team} in a pool {self.pool} with GPUs.")
        most = variations.most_fewer(now.settings, team=self.team, pool=self.pool)
        if min(self.steps) < -most:
            raise WorkloadRefused(
                f"The guarantee of team {self.team} in pool {self.pool} can be lowered by at most"
                f" {most}: what the teams below it are guaranteed stays."
            )


def question(now: ClusterNow, *, steps: Sequence[int] | None, **where: Any) -> PriceQuestion:
    """Return a question that can be answered. Without `steps`, the usual ones that are possible.

    Raises:
        WorkloadRefused: it cannot.
    """
    made = PriceQuestion(steps=tuple(sorted(steps or variations.USUAL_STEPS)), **where)
    if steps is None and variations.is_there(now.settings, team=made.team, pool=made.pool):
        usual = variations.usual_steps(now.settings, team=made.team, pool=made.pool)
        made = PriceQuestion(steps=usual, **where)
    made.check(now)
    return made


def price(
    principal: Principal,
    asked: PriceQuestion,
    now: ClusterNow,
    *,
    wake_worker: Callable[[], None],
) -> tuple[Simulation, bool]:
    """Return the simulation that tells the price, and whether it had to be asked for.

    Raises:
        SimulationTooLarge: too many jobs came in these days.
        TooManyWaiting: enough simulations are wanted already.
    """
    replays = asking.ReplayQuestion(
        kind=Simulation.Kind.QUOTA_PRICE,
        title="Price of a quota",
        body=asdict(asked),
        now=now,
        digest=asked.digest(now),
        runs=asked.runs,
    )
    return asking.answered(principal, replays, wake_worker=wake_worker)
