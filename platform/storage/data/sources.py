"""Which sources of data are there, for whom, and where does a job find one?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import connection
from django.db.models import Count, QuerySet
from tenancy.models import Team, slug_validator

from storage.data.kinds import KINDS
from storage.data.rules import DataRules
from storage.errors import SourceInUse, SourceInvalid, TooManySources
from storage.models import DataCopy, DataSnapshot, DataSource

MOST: Final = 500  # of an installation, so that a list of them is one page
MOST_UPLOADS: Final = 50  # of those by one team; guessed
MOST_OF_TEAM: Final = 50  # of those that leads add, so that no team leaves others without room
_LOCK_NUMBER: Final = 0x44617461  # "Data"


class DataUnavailable(Exception):
    """Data that a job needs cannot be shown to it; the message is for the job's users."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContent:
    """What an admin says of a source."""

    kind: str
    place: Mapping[str, str]
    teams: Collection[Team]
    is_writable: bool


def one_change_at_a_time() -> None:
    """Wait until nobody else adds, changes or deletes sources, until the transaction is over.

    A source that is not there yet has no row to hold: of two who add one, the second has to see the
    first one's, to be asked whether it may change that.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_NUMBER])


def put(
    *, name: str, content: SourceContent, by: str, rules: DataRules, users: Sequence[str]
) -> tuple[DataSource, bool]:
    """Keep a source under this name, instead of any before; True if there was none.

    Call it after `one_change_at_a_time`, with the row of this name locked. `users` are the live
    jobs that use it: while there are any, it may be shared with more teams and opened for writing,
    and nothing else may change.

    Raises:
        SourceInvalid: the name or the place is wrong.
        SourceInUse: live jobs would see something else.
        TooManySources: there are as many as there may be.
    """
    _check_name(name)
    kind = KINDS[content.kind]
    place = kind.checked(content.place, rules)
    if content.is_writable and not kind.may_be_written:
        raise SourceInvalid("Jobs can write to folders only, and read sources of this kind.")
    others = list(DataSource.objects.exclude(name=name))
    if len(others) >= MOST:
        raise TooManySources
    if content.kind != DataSource.Kind.FOLDER:
        _check_number(name, content.teams)
    _check_uploads(content, place, others)
    _check_neighbours(content, place, others)
    kept = DataSource.objects.filter(name=name).first()
    if kept is not None and users and _takes_away(kept, content, place):
        raise SourceInUse(users)
    fields = {"kind": content.kind, "place": place, "is_writable": content.is_writable}
    source, is_new = DataSource.objects.update_or_create(
        name=name, defaults={**fields, "updated_by": by}
    )
    source.teams.set(content.teams)
    if kept is not None and _is_elsewhere(kept, content, place):
        source.copies.all().delete()  # what was fetched is of another place
    return source, is_new


def of_team(team: Team) -> QuerySet[DataSource]:
    """Return what the jobs of a team may name."""
    return DataSource.objects.filter(teams=team)


def bytes_here(found: Iterable[DataSource]) -> Mapping[int, int]:
    """Return how much the platform has of each, or fetches; by the source's number."""
    known = list(found)
    digests = [one.place["digest"] for one in known if one.kind == DataSource.Kind.UPLOAD]
    uploads = DataSnapshot.objects.filter(digest__in=digests)
    uploaded = dict(uploads.values_list("digest", "bytes")) if digests else {}
    return {
        one.pk: uploaded.get(one.place.get("digest", ""), 0)
        + sum(copy.bytes for copy in one.copies.all() if copy.state != DataCopy.State.LISTED)
        for one in known
    }


def folder_for(team: Team, name: str, *, version: str, is_writing: bool, rules: DataRules) -> Path:
    """Return the folder of the nodes that a job of the team is shown, in the version that it has.

    Raises:
        DataUnavailable: the team may not use it any more, or it is not where it was.
    """
    source = of_team(team).filter(name=name).first()
    if source is None:
        raise DataUnavailable(f"Team {team.name} has no data source {name} any more.")
    if is_writing and not source.is_writable:
        raise DataUnavailable(f"Jobs may not write to data source {name} any more.")
    try:
        return KINDS[source.kind].folder(source.place, rules, (source.pk, version))
    except SourceInvalid as problem:
        raise DataUnavailable(f"Data source {name} cannot be used: {problem}") from problem


def _check_name(name: str) -> None:
    if not re.fullmatch(slug_validator.regex, name):
        raise SourceInvalid(f"{name[:80]!r} is not a source's name. {slug_validator.message}")


def _check_number(name: str, teams: Collection[Team]) -> None:
    others = DataSource.objects.exclude(name=name).exclude(kind=DataSource.Kind.FOLDER)
    found = Team.objects.filter(pk__in=[team.pk for team in teams], data_sources__in=others)
    counts = found.annotate(count=Count("data_sources")).order_by("name")
    for team, count in counts.values_list("name", "count"):
        if count >= MOST_OF_TEAM:
            raise TooManySources(
                f"Team {team} has {count} object stores and outputs as sources of data, and may"
                f" have {MOST_OF_TEAM}. Delete one first."
            )


def _check_uploads(
    content: SourceContent, place: Mapping[str, str], others: Collection[DataSource]
) -> None:
    if content.kind != DataSource.Kind.UPLOAD:
        return
    theirs = [one for one in others if one.place.get("owner") == place["owner"]]
    if len(theirs) >= MOST_UPLOADS:
        raise TooManySources(
            f"The team has {MOST_UPLOADS} uploads under names of their own. Delete one first:"
            " `concertina data rm`."
        )


def _check_neighbours(
    content: SourceContent, place: Mapping[str, str], others: Collection[DataSource]
) -> None:
    """Refuse what jobs could move away from under another source, to show what they like."""
    for other in others:
        is_written = content.is_writable or other.is_writable
        is_alike = is_written and other.kind == content.kind
        if is_alike and KINDS[content.kind].overlaps(place, other.place):
            raise SourceInvalid(
                f"It overlaps with source {other.name}, and jobs may write to one of them."
                " Let jobs write to neither, or use a folder beside it."
            )


def _takes_away(kept: DataSource, content: SourceContent, place: Mapping[str, str]) -> bool:
    is_closed = kept.is_writable and not content.is_writable
    lost = set(kept.teams.values_list("pk", flat=True)) - {team.pk for team in content.teams}
    stays = kept.kind == content.kind and KINDS[kept.kind].stays(kept.place, place)
    return not stays or is_closed or bool(lost)


def _is_elsewhere(kept: DataSource, content: SourceContent, place: Mapping[str, str]) -> bool:
    return (kept.kind, kept.place) != (content.kind, dict(place))
