"""Who came to a rung, and who goes on, waits or is stopped? One transaction of a sweep.

So whoever dies in it has decided nothing, and the next round decides the same.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from jobs.commands import control
from jobs.lifecycle import LIVE
from jobs.models import JobArray
from sweeps import standings
from sweeps.models import Sweep, SweepMark
from sweeps.rounds import arrivals
from sweeps.search import halving, terms
from sweeps.search.halving import HalvingDecision, TrialFate
from sweeps.standings import TrialJob

_log: Final = logging.getLogger(__name__)


@transaction.atomic
def weigh(sweep: Sweep, now: datetime) -> None:
    """Store who came to rungs, and carry out what follows; end the sweep after its last trial."""
    held = JobArray.objects.select_for_update(no_key=True).only("pk", "is_open").get(pk=sweep.pk)
    sweep.array.is_open = held.is_open
    wanted = terms.read(sweep.terms)
    trials = standings.read(sweep.pk, wanted)
    to_come = wanted.number_of_trials - sweep.made if held.is_open else 0
    if to_come <= 0 and all(one.state not in LIVE for one in trials):
        _end(sweep, now)
        return
    if wanted.asha is None:
        return
    marks = arrivals.new_marks(sweep.pk, trials, wanted)
    SweepMark.objects.bulk_create(marks)
    new: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for mark in marks:
        new[mark.job_id][mark.rung] = mark.value
    decision = halving.decide(
        [one.standing(new.get(one.id)) for one in trials],
        rungs=len(wanted.asha.levels),
        reduction=wanted.asha.reduction,
        goal=wanted.metric.goal,
        to_come=max(to_come, 0),
    )
    _promote(sweep, decision, now)
    steps = _steps_of(decision, trials, new.keys())
    _carry_out(steps, f"sweep {sweep.array.name}", wanted.asha.reduction)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """What is done with which jobs."""

    goes_on: Sequence[str]
    waits: Sequence[str]
    ends: Sequence[str]


def _steps_of(
    decision: HalvingDecision, trials: Sequence[TrialJob], came: Collection[str]
) -> _Steps:
    """Return what follows; who came just now trains on until it is told, unless it may go on.

    One that waits for another reason, as because a person paused it, is left alone; and one to
    which somebody tells something at this very moment, too. The rows of all are held from here on.
    """
    promoted = {number for number, _ in decision.promoted}
    stopped = set(decision.stopped)
    live = [one for one in trials if one.fate is TrialFate.LIVES]
    here = [one.id for one in live if one.id in came and one.number not in promoted | stopped]
    best = [one.id for one in live if one.number in promoted and one.rests]
    last = [one.id for one in live if one.number in stopped and (one.rests or one.id in came)]
    if not (here or best or last):
        return _Steps(goes_on=(), waits=(), ends=())
    rest = standings.hold([*here, *best, *last])
    return _Steps(
        goes_on=[one for one in best if one in rest],
        waits=here,
        ends=[one for one in last if one in rest or one in came],
    )


def _carry_out(steps: _Steps, actor: str, reduction: int) -> None:
    """Tell the jobs, in a few statements, however many they are."""
    share = f"at its rung it is not among the best 1/{reduction}"
    if steps.goes_on:
        best = f"at its rung it is among the best 1/{reduction}"
        resumed = control.resume_all(job_ids=steps.goes_on, actor=actor, reason=best)
        if used_up := sorted({*steps.goes_on} - {*resumed}):
            why = f"{best}, and it has used up a limit of its own"
            control.stop_all(job_ids=used_up, actor=actor, reason=why)
    if steps.ends:
        why = f"{share}, and cannot be any more"
        control.stop_all(job_ids=steps.ends, actor=actor, reason=why)
    if steps.waits:
        control.rest_all(job_ids=steps.waits, actor=actor, reason=f"{share} that came so far")


def _promote(sweep: Sweep, decision: HalvingDecision, now: datetime) -> None:
    if not decision.promoted:
        return
    which = Q()
    for number, rung in decision.promoted:
        which |= Q(number=number, rung=rung)
    SweepMark.objects.filter(which, sweep=sweep.pk).update(promoted_at=now)


def _end(sweep: Sweep, now: datetime) -> None:
    sweep.ended_at = now
    Sweep.objects.filter(pk=sweep.pk, ended_at=None).update(ended_at=now)
    JobArray.objects.filter(pk=sweep.pk, is_open=True).update(is_open=False)
    _log.info("Sweep %s has ended.", sweep.pk, extra={"action": "sweeps", "sweep": sweep.pk})
