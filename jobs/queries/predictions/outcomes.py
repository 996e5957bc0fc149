"""What came of the newest predictions? As many rows are read in a large cluster as in a small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from jobs.models import Prediction

_SCORED: Final = 1000  # guessed: some tens of jobs, each with tens of predictions
_OPEN: Final = 1000  # of as many live jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionOutcome:
    """A range as it was replayed, and when it happened. None: not yet, or later than was looked."""

    job_id: str
    team_id: int
    kind: str
    basis: str
    made_at: datetime
    replayed: tuple[datetime | None, datetime | None, datetime | None]
    happened_at: datetime | None
    is_held: bool | None


def newest_outcomes() -> list[PredictionOutcome]:
    """The newest that have happened, newest first; and since the first of those, the open ones.

    Of those that have not happened the first of each job: it says that there is a long one.
    """
    rows = Prediction.objects.exclude(basis="")
    scored = list(_outcomes(rows.exclude(happened_at=None).order_by("-happened_at")[:_SCORED]))
    if not scored:
        return []
    since = min(one.made_at for one in scored)
    still = rows.filter(happened_at=None, made_at__gte=since)
    first = still.order_by("job_id", "kind", "made_at").distinct("job_id", "kind")
    return [*scored, *_outcomes(first[:_OPEN])]


def _outcomes(rows: QuerySet[Prediction]) -> Iterator[PredictionOutcome]:
    columns = rows.values_list(
        "job_id",
        "job__team_id",
        "kind",
        "basis",
        "made_at",
        "replayed_p10",
        "replayed_p50",
        "replayed_p90",
        "happened_at",
        "held",
    )
    return (_outcome(*row) for row in columns)


def _outcome(*row: Any) -> PredictionOutcome:
    job_id, team_id, kind, basis, made_at, p10, p50, p90, happened_at, held = row
    return PredictionOutcome(
        job_id=job_id,
        team_id=team_id,
        kind=kind,
        basis=basis,
        made_at=made_at,
        replayed=(p10, p50, p90),
        happened_at=happened_at,
        is_held=held,
    )
