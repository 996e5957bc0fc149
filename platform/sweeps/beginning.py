"""Somebody submits a sweep, or cancels it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from schedules.holders import ScheduleHolder
from tenancy.access.principal import Principal
from tenancy.audit import records
from tenancy.models import Team

from jobs.admission import call
from jobs.admission.pool_capacity import PoolCapacity
from jobs.commands import control, submission
from jobs.errors import IdempotencyConflict
from jobs.models import JobArray
from sweeps import places, specs
from sweeps.models import Sweep
from sweeps.specs import SweptSpec


def begin(
    holder: ScheduleHolder,
    document: Any,
    *,
    key: str | None,
    teams: Mapping[str, Team],
    pools: Sequence[PoolCapacity],
    count_jobs: Callable[[int], None],
    traceparent: str = "",
) -> tuple[Sweep, Sequence[str], bool]:
    """Check all trials, and submit the first ones.

    Return also what their user should know, and False if the same request began it before. All of
    it is one transaction: there is no sweep without a trial.

    Raises:
        JobsError: as `submission.submit`.
    """
    read = specs.read(document, teams)
    trials = specs.trials_of(read)
    count_jobs(len(trials))
    admitted = call.admit_all(trials, teams=teams, pools=pools)
    spec = {**read.document, "team": admitted.team.name}
    spec.pop("project", None)
    swept = replace(read, document=spec)
    sweep = _new(holder, admitted.team, swept, document["sweep"])
    first = min(swept.wanted.max_running, places.MOST_AT_ONCE)
    with transaction.atomic():
        sweep.array.save(force_insert=True)
        made = submission.submit(
            sent=specs.trials_of(swept, most=first),
            body=document,
            teams=teams,
            pools=pools,
            by=holder.principal,
            idempotency_key=key,
            array=sweep.array,
            traceparent=traceparent,
        )
        if made.is_new:
            sweep.made = len(made.made)
            sweep.save(force_insert=True)
        else:
            transaction.set_rollback(True)  # the array is there already
    if not made.is_new:
        return _made_before(made.made), admitted.notes, False
    records.note_target(team_id=admitted.team.pk, target=f"sweeps/{sweep.pk}")
    records.note_change(after={"sweep": sweep.array.name, "trials": len(trials)})
    return sweep, admitted.notes, True


def cancel(principal: Principal, sweep: Sweep, *, reason: str) -> Sequence[str]:
    """Stop all its trials that live for good, and make no more; return which.

    Raises:
        JobNotYours: some of them the principal only sees.
    """
    return control.cancel_trials(principal, sweep.array, reason=reason)


def _made_before(jobs: Sequence[tuple[str, str]]) -> Sweep:
    """Return the sweep of these jobs, of which some may be deleted.

    Raises:
        IdempotencyConflict: all are.
    """
    known = Sweep.objects.select_related("array__team")
    sweep = known.filter(array__jobs__in=[job_id for job_id, _ in jobs]).first()
    if sweep is None:
        raise IdempotencyConflict(
            "This Idempotency-Key began a sweep whose jobs are deleted. Use another key to begin"
            " it anew."
        )
    return sweep


def _new(holder: ScheduleHolder, team: Team, swept: SweptSpec, field: Any) -> Sweep:
    """Return a sweep and its array; nothing is stored."""
    spec, wanted = swept.document, swept.wanted
    array = JobArray(
        team=team,
        name=str(spec["name"]),
        parameters=[*wanted.parameters],
        trials=wanted.number_of_trials,
        max_running=wanted.max_running,
        is_swept=True,
        is_open=True,
        submitted_by=holder.principal.name,
    )
    return Sweep(array=array, spec=spec, terms=field, template=swept.template, **holder.columns)
