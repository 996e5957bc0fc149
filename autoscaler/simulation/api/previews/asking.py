"""Who wants to know what other quotas would have meant? Equal questions have one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from tenancy.access.principal import Principal

from autoscaler.simulation.api import commands, limits, queries
from autoscaler.simulation.api.models import LIVE, BaseRun, Simulation
from autoscaler.simulation.api.previews.clusters import ClusterNow
from jobs.models import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayQuestion:
    """What is asked of the past: its checked body, and a digest that equal questions share."""

    kind: Simulation.Kind
    title: str
    body: Mapping[str, Any]
    now: ClusterNow
    digest: str
    runs: int


def answered(
    principal: Principal, question: ReplayQuestion, *, wake_worker: Callable[[], None]
) -> tuple[Simulation, bool]:
    """Return the simulation that answers it, and whether it had to be asked for.

    Raises:
        SimulationTooLarge: too many jobs came in these days.
        TooManyWaiting: enough simulations are wanted already.
    """
    with transaction.atomic():
        commands.hold_queue()  # of two who ask at once, the second finds what the first wants
        found = _asked_alike(principal, question)
        if found is not None:
            return found, False
        since = timezone.now() - timedelta(days=question.body["days"])
        jobs = Job.objects.filter(submitted_at__gte=since).count()
        limits.check_jobs(jobs, runs=question.runs)
        made = commands.request(
            title=question.title,
            body=question.body,
            requested_by=principal.name,
            owner_id=principal.person_id,
            kind=question.kind,
            digest=question.digest,
        )
        transaction.on_commit(wake_worker)
    return made, True


def give_up(principal: Principal, kind: Simulation.Kind, replay_id: str) -> Simulation:
    """Cancel it, and return it as it is then.

    Raises:
        SimulationNotFound: there is none that this sender sees.
        AlreadyOver: it has ended.
    """
    commands.cancel(queries.find_replay(principal, kind, replay_id))
    return queries.find_replay(principal, kind, replay_id)


def _asked_alike(principal: Principal, question: ReplayQuestion) -> Simulation | None:
    """Return one that waits or runs, or one that is compared with a past that is fresh still.

    Nobody joins what somebody else waits for: whoever stops waiting gives it up.
    """
    made_at = BaseRun.objects.filter(
        pk=question.now.digest, made_at__gte=timezone.now() - limits.PAST_IS_KEPT
    ).values("made_at")
    is_known = Q(state=Simulation.State.COMPLETED, finished_at__gte=made_at)
    alike = queries.replays_of(principal, question.kind).filter(digest=question.digest)
    is_awaited = Q(state__in=LIVE, owner=principal.person_id)
    return alike.filter(is_awaited | is_known).first()
