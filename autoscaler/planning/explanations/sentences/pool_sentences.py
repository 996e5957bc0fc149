"""How is it said to people what each of a job's pools offered, and which one was chosen?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.pool_offer import PoolAnswer
from autoscaler.planning.explanations.sentences.wording import workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.decisions.pool_offer import PoolOffer

_ANSWERS: Final = {
    PoolAnswer.STARTS: "",
    PoolAnswer.OWED: "its guarantee is being given back",
    PoolAnswer.WAITS: "it would wait",
    PoolAnswer.REFUSED: "it cannot run there",
    PoolAnswer.NOT_ASKED: "",
}
_LITTLE: Final = 0.05  # of a speed: nobody has to be told


def of_pools(offers: Sequence[PoolOffer]) -> str:
    """Say it of a job that may be in several pools; nothing of any other."""
    if not offers:
        return ""
    unit = "Speed 1 is that of its smallest size in the slowest of them."
    return f"Its pools, best first: {'; '.join(map(_offer, offers))}. {unit}"


def _offer(offer: PoolOffer) -> str:
    parts = [_share(offer), _ANSWERS[offer.answer], "" if offer.is_measured else "not measured"]
    name = f"{offer.pool} (chosen)" if offer.is_chosen else offer.pool
    return f"{name}, {', '.join(filter(None, parts))}"


def _share(offer: PoolOffer) -> str:
    if not offer.workers:
        return f"full, speed {offer.speed:.1f} with its smallest size"
    loss = f" while others lose {offer.loss:.1f}" if offer.loss > _LITTLE else ""
    price = (
        f" at ${offer.dollars_per_gpu_hour:g} per GPU-hour" if offer.dollars_per_gpu_hour else ""
    )
    return f"speed {offer.speed:.1f} with about {workers(offer.workers)}{loss}{price}"
