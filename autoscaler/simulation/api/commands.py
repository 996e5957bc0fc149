"""What changes a simulation's row? Every transition is guarded by the state it leaves.

A worker writes under the attempt it began. Whoever finds no row to change was overtaken: the
simulation was cancelled, or a newer attempt runs because this worker was thought to be dead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from tenancy.audit import records

from autoscaler.simulation.api import limits
from autoscaler.simulation.api.errors import AlreadyOver, TooManyWaiting
from autoscaler.simulation.api.models import LIVE, Report, Simulation

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import SimulationProgress

SILENCE: Final = timedelta(seconds=60)  # after so long without a sign its worker counts as dead
SECONDS_BETWEEN_SIGNS: Final = 2.0
ATTEMPTS: Final = 2  # a simulation that takes its worker down twice would do so again
MOST_WAITING: Final = 10  # guessed: one worker runs them one after the other
MOST_WAITING_OF_ONE: Final = 5  # so that nobody fills the queue alone
_LOCK_NUMBER: Final = 0x57684966  # "WhIf"

State = Simulation.State


@transaction.atomic
def request(
    *,
    title: str,
    body: Mapping[str, Any],
    requested_by: str,
    owner_id: int | None = None,
    kind: str = Simulation.Kind.WORKLOAD,
    digest: str = "",
) -> Simulation:
    """Write down that somebody wants a simulation; of two at once, one counts the other.

    Raises:
        TooManyWaiting: enough are wanted already, by all or by this person.
    """
    hold_queue()
    live = Simulation.objects.filter(state__in=LIVE)
    if live.count() >= MOST_WAITING:
        raise TooManyWaiting
    if owner_id is not None and live.filter(owner=owner_id).count() >= MOST_WAITING_OF_ONE:
        raise TooManyWaiting(f"{MOST_WAITING_OF_ONE} of your simulations wait; cancel one first.")
    return Simulation.objects.create(
        title=title,
        request=dict(body),
        requested_by=requested_by,
        owner_id=owner_id,
        kind=kind,
        digest=digest,
    )


def hold_queue() -> None:
    """Let nobody else ask for a simulation until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_NUMBER])


def cancel(simulation: Simulation) -> None:
    """Give up a simulation; its worker notices at its next sign of life.

    Raises:
        AlreadyOver: it has ended.
    """
    now = timezone.now()
    live = Simulation.objects.filter(pk=simulation.pk, state__in=LIVE)
    if not live.update(state=State.CANCELLED, finished_at=now):
        raise AlreadyOver
    records.note_change(before={"state": simulation.state}, after={"state": State.CANCELLED})


def is_one_waiting() -> bool:
    return Simulation.objects.filter(state=State.QUEUED).exists()


def claim() -> Simulation | None:
    """Take up the simulation that waits longest; None: none waits, or another one runs.

    One at a time: the other processes of the io worker are for predictions and housekeeping.
    """
    if Simulation.objects.filter(state=State.RUNNING).exists():
        return None
    try:
        return _take_up_next()
    except IntegrityError:  # another process took one up just now: the database keeps it to one
        return None


def _take_up_next() -> Simulation | None:
    with transaction.atomic():
        waiting = Simulation.objects.filter(state=State.QUEUED).order_by("requested_at")
        simulation = waiting.select_for_update(skip_locked=True).first()
        if simulation is None:
            return None
        simulation.state, simulation.attempt = State.RUNNING, simulation.attempt + 1
        simulation.started_at = simulation.seen_at = timezone.now()
        simulation.progress = 0.0
        simulation.save(update_fields=("state", "attempt", "started_at", "seen_at", "progress"))
    return simulation


def note_progress(simulation: Simulation, progress: float) -> bool:
    """Tell how far it is; False: it is not this worker's any more."""
    return bool(_held(simulation).update(progress=progress, seen_at=timezone.now()))


def complete(simulation: Simulation, *, result: Mapping[str, Any], html: str = "") -> bool:
    """Store what came out, with its page if there is one; False: it is not this worker's now."""
    with transaction.atomic():
        is_ours = _held(simulation).update(
            state=State.COMPLETED, finished_at=timezone.now(), progress=1.0, result=dict(result)
        )
        if is_ours and html:
            Report.objects.update_or_create(simulation=simulation, defaults={"html": html})
    return bool(is_ours)


def fail(simulation: Simulation, error: str) -> bool:
    """Store why nothing came out; False: it is not this worker's any more."""
    return bool(
        _held(simulation).update(state=State.FAILED, finished_at=timezone.now(), error=error)
    )


def recover_lost() -> int:
    """Queue again what a dead worker left behind; fail what did so too often. How many?"""
    now = timezone.now()
    lost = Simulation.objects.filter(state=State.RUNNING, seen_at__lt=now - SILENCE)
    given_up = lost.filter(attempt__gte=ATTEMPTS).update(
        state=State.FAILED,
        finished_at=now,
        error=f"The background worker died {ATTEMPTS} times during this simulation. It may need"
        " more memory than there is: simulate fewer jobs.",
    )
    return given_up + lost.filter(attempt__lt=ATTEMPTS).update(state=State.QUEUED)


def _held(simulation: Simulation) -> QuerySet[Simulation]:
    return Simulation.objects.filter(
        pk=simulation.pk, state=State.RUNNING, attempt=simulation.attempt
    )


class SimulationTakenOver(Exception):
    """The simulation was cancelled, or another worker has taken it up."""


class TookTooLong(Exception):
    """The simulation was given up after the most time that one may take."""


class Signs:
    """Signs of life of one simulation; raises when it shall stop."""

    def __init__(self, simulation: Simulation, *, total: int) -> None:
        self._simulation = simulation
        self._total = total
        self._began_at = self._told_at = perf_counter()

    def after(self, runs: int) -> Callable[[SimulationProgress], None]:
        """Return what a run is given when so many have ended before it."""

        def on_progress(progress: SimulationProgress) -> None:
            now = perf_counter()
            if now - self._told_at < SECONDS_BETWEEN_SIGNS:
                return
            self._told_at = now
            if now - self._began_at > limits.MOST_SECONDS:
                raise TookTooLong
            ended = runs * progress.jobs + progress.jobs_ended
            if not note_progress(self._simulation, ended / self._total):
                raise SimulationTakenOver

        return on_progress
