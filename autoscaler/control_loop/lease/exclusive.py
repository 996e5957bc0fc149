"""Who may apply plans now? One process at a time, and never one that has been overtaken.

Two guards. A lock of the session with PostgreSQL lets only one process tick at a time. The `Lease`
row counts ticks, and changes of the holder; every transaction that applies something reads it under
a row lock, so that a process which lost its connection, slept, and woke up in the middle of a tick
finds out before it writes. For what is no row see `orders`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from autoscaler.control_loop.lease.session_lock import session_lock
from autoscaler.control_loop.models import Lease

LEASE_NAME: Final = "control"
LEASE_SECONDS: Final = 30.0  # for people: nobody waits for it
LOCK_NUMBER: Final = 0x436F6E63  # "Conc"


class LeaseLost(Exception):
    """Overtaken by another process, which holds the lease now; nothing more may be applied."""

    def __str__(self) -> str:
        return str(self.__doc__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The number under which a tick applies what it decided."""

    number: int
    turn: int = 0  # which tick of this database it is
    epoch: int = 0  # of the database, as it knows itself

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction that nobody with a higher number can have overtaken.

        Raises:
            LeaseLost: somebody has.
        """
        with transaction.atomic():
            self._compare(Lease.objects.select_for_update())
            yield

    def check(self) -> None:
        """Check that nobody has overtaken it, at this moment.

        Raises:
            LeaseLost: somebody has.
        """
        self._compare(Lease.objects.all())

    def _compare(self, leases: QuerySet[Lease]) -> None:
        """Two holders may bear the same name, but no two ticks have the same turn."""
        held = leases.filter(pk=LEASE_NAME).values_list("fence", "turn").first()
        if held != (self.number, self.turn):
            raise LeaseLost


@contextmanager
def exclusively(*, holder: str, now: datetime) -> Iterator[Fence | None]:
    """Hold the right to apply; None: another process ticks at this moment."""
    with session_lock(LOCK_NUMBER) as is_ours:
        yield _take(holder, now) if is_ours else None


@transaction.atomic
def _take(holder: str, now: datetime) -> Fence:
    expires_at = now + timedelta(seconds=LEASE_SECONDS)
    first = {"holder": holder, "fence": 1, "expires_at": expires_at}
    leases = Lease.objects.select_for_update()
    lease, _ = leases.get_or_create(pk=LEASE_NAME, defaults=first)
    if lease.holder != holder:
        lease.holder = holder
        lease.fence += 1
    lease.turn += 1
    lease.expires_at = expires_at
    lease.save()
    return Fence(number=lease.fence, turn=lease.turn, epoch=lease.epoch)
