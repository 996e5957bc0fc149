"""How is it said whether a team was given what it was owed? In one sentence, with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from autoscaler.gpu_accounts.arithmetic.shortfall_causes import ShortfallCause
from autoscaler.gpu_accounts.reading.receipt import FairnessReceipt, MissingTime

_UNITS: Final = (("GPU-hours", 3_600_000_000), ("GPU-minutes", 60_000_000))
_SECOND: Final = 1_000_000
_WHOLE: Final = 1_000  # thousandths


def said(team: str, found: FairnessReceipt) -> str:
    """Tell for how much of the time it had work it was given all, and what was missing and why."""
    if not found.working:
        return f"Team {team} had no work for its guarantee."
    missing = sum(one.amount for one in found.missing)
    if not missing:
        return f"Team {team} was given what it was owed for all of the time it had work."
    thousandths = found.given * _WHOLE // found.working  # rounded down: never all of it
    unit, size = _unit(missing)
    causes = ", ".join(
        f"{_amount(amount, size)} {label_of(cause)}" for cause, amount in by_cause(found.missing)
    )
    return (
        f"Team {team} was given what it was owed for {thousandths / 10:.1f} % of the time it had"
        f" work; {_amount(missing, size)} {unit} short: {causes}."
    )


def by_cause(missing: Iterable[MissingTime]) -> list[tuple[str, int]]:
    """Return what each cause kept from the team in all pools, the largest first."""
    found: Counter[str] = Counter()
    for one in missing:
        found[one.cause] += one.amount
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def missing_of(found: FairnessReceipt) -> list[dict[str, object]]:
    """Return what was missing, by pool and cause, as answers have it."""
    return [
        {
            "pool": one.pool,
            "cause": one.cause,
            "label": label_of(one.cause),
            "gpu_seconds": one.amount / _SECOND,
        }
        for one in found.missing
    ]


def label_of(cause: str) -> str:
    """Return its words; a cause of another release is told as it is written."""
    known = ShortfallCause(cause).label if cause in set(ShortfallCause) else cause
    return known[:1].lower() + known[1:]


def _unit(amount: int) -> tuple[str, int]:
    return next(
        ((unit, size) for unit, size in _UNITS if amount >= 2 * size), ("GPU-seconds", _SECOND)
    )


def _amount(amount: int, size: int) -> str:
    tenths = f"{amount / size:,.1f}"
    return "less than 0.1" if tenths == "0.0" else tenths.removesuffix(".0")
