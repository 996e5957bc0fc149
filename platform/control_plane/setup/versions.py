"""What was the set-up at a moment? Each version is kept, from when it was noticed.

What is changed as a document, or over REST object by object, is noticed as it is changed. Whatever
else changes something (a lead, the administration, somebody in the database) a task notices.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, Min, QuerySet
from django.utils import timezone
from tenancy.models import SetupVersion

from control_plane.setup.nesting import nested
from control_plane.setup.objects import SetupObjects, version_of
from control_plane.setup.stored import read

_NEXT: Final = timedelta(microseconds=1)  # after the version before, though a clock stepped back


def keep_what_changed() -> bool:
    """Write down what there is, if it is another than was written down last; tell whether it is.

    It is read again while nobody changes it, so that no version comes after a later one.
    """
    if not _is_new(read().version):
        return False
    with transaction.atomic():
        return keep(read(is_held=True).objects)


def keep(objects: SetupObjects) -> bool:
    """Write this set-up down, in the transaction of who holds it; false: it was already."""
    version = version_of(objects)
    if not _is_new(version):
        return False
    last = SetupVersion.objects.aggregate(last=Max("since"))["last"]
    since = timezone.now() if last is None else max(timezone.now(), last + _NEXT)
    SetupVersion.objects.create(since=since, version=version, setup=nested(objects))
    return True


def at(moment: datetime) -> SetupVersion | None:
    """Return what the set-up was then; None: it was not written down yet."""
    return SetupVersion.objects.filter(since__lte=moment).order_by("-since").first()


def first_known() -> datetime | None:
    """Return since when it is written down; None: it never was."""
    first: datetime | None = SetupVersion.objects.aggregate(first=Min("since"))["first"]
    return first


def delete_old(kept: timedelta, *, erase: Callable[[QuerySet[Any]], int]) -> int:
    """Delete versions that another has followed for so long; the one that held then stays."""
    held = at(timezone.now() - kept)
    return 0 if held is None else erase(SetupVersion.objects.filter(since__lt=held.since))


def _is_new(version: str) -> bool:
    last = SetupVersion.objects.order_by("-since").values_list("version", flat=True).first()
    return last != version
