"""Which entries are there, the newest first, for whoever may see them?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from tenancy.models import AuditEntry, AuditRepeats, Team


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuestion:
    """Which entries somebody asks for; what is empty does not matter."""

    teams: Collection[int] | None = None  # of which they see entries; None: of all, and of none
    sender: str = ""
    token: str = ""  # an id, or the beginning of a key
    operation: str = ""
    target: str = ""  # and whatever is below it
    outcome: str = ""
    since: datetime | None = None
    until: datetime | None = None


def entries(asked: AuditQuestion, *, before_id: int | None, limit: int) -> Sequence[AuditEntry]:
    """Return them by one statement, each with `times`, `last_at` and `team_name`."""
    found = AuditEntry.objects.filter(_which(asked))
    if before_id is not None:
        found = found.filter(id__lt=before_id)
    return list(_with_repeats(found).order_by("-id")[:limit])


def _which(asked: AuditQuestion) -> Q:
    wanted = Q()
    if asked.teams is not None:
        wanted &= Q(team_id__in=asked.teams)
    for field in ("sender", "operation", "outcome"):
        if value := getattr(asked, field):
            wanted &= Q(**{field: value})
    if asked.token:
        number = int(asked.token) if asked.token.isascii() and asked.token.isdecimal() else None
        wanted &= Q(token_prefix=asked.token) if number is None else Q(token_id=number)
    if asked.target:
        wanted &= Q(target=asked.target) | Q(target__startswith=f"{asked.target}/")
    if asked.since is not None:
        wanted &= Q(at__gte=asked.since)
    if asked.until is not None:
        wanted &= Q(at__lt=asked.until)
    return wanted


def _with_repeats(found: QuerySet[AuditEntry]) -> QuerySet[Any]:
    repeats = AuditRepeats.objects.filter(key=OuterRef("repeats_key"))
    return found.annotate(
        times=Coalesce(Subquery(repeats.values("times")[:1]), 1),
        last_at=Coalesce(Subquery(repeats.values("last_at")[:1]), F("at")),
        team_name=Subquery(Team.objects.filter(pk=OuterRef("team_id")).values("name")[:1]),
    )
