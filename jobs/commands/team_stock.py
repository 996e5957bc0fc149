"""What does a team have already, and is there room for more of it?

It is read while the team's submissions go one at a time, so none comes between.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.utils import timezone
from tenancy.models import Team, limits_of

from autoscaler.job_vocabulary import JobReason
from jobs.admission import call
from jobs.admission.call import AdmittedCall
from jobs.admission.rules.line import STAMP_SQL
from jobs.errors import NameInUse, Problem, TeamDiskFull, TooManyQueued
from jobs.lifecycle import LIVE, WAITING
from jobs.models import Job
from jobs.spec.bulk import SentSpec

IDEMPOTENCY_WINDOW: Final = timedelta(hours=24)


def alone(team: Team) -> Team:
    """Return the team as it is now. From here on, its submissions go one at a time."""
    held = Team.objects.select_for_update(no_key=True, of=("self",))
    return held.select_related("limits").get(pk=team.pk)


_WAITS: Final = "state = ANY(%(waiting)s) AND reason <> %(at_rung)s"
"""Trials that wait at a rung wait for others: if they kept those out, all would wait for ever."""
_THERE: Final = f"""
    SELECT count(*) FILTER (WHERE {_WAITS}),
        count(*) FILTER (WHERE {_WAITS} AND submitted_by = %(by)s),
        (array_agg(name ORDER BY name) FILTER (WHERE name = ANY(%(names)s)))[:%(most)s], (
            SELECT jsonb_build_array(body_digest, job_id, job.name, made)
            FROM jobs_idempotencykey LEFT JOIN jobs_job job ON job.id = job_id
            WHERE jobs_idempotencykey.team_id = %(team)s AND key = %(key)s AND key <> ''
                AND created_at > %(since)s
        ), {STAMP_SQL}
    FROM jobs_job WHERE team_id = %(team)s AND state = ANY(%(live)s)
"""  # noqa: S608 - own names


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamStock:
    """What a team has, and gets no more of while its submissions wait."""

    waiting: int  # jobs
    own_waiting: int  # of whoever submits
    taken: Sequence[str]  # names of its live jobs, of those that were asked for
    made: Sequence[Any] | None  # what the key stands for; None: it is not known
    rules_stamp: str  # of the rules that count for it

    @classmethod
    def read(cls, team: Team, jobs: Sequence[Job], key: str) -> TeamStock:
        with connection.cursor() as cursor:
            cursor.execute(
                _THERE,
                {
                    "team": team.pk,
                    "names": [job.name for job in jobs],
                    "by": jobs[0].submitted_by,
                    "waiting": sorted(WAITING),
                    "at_rung": JobReason.PAUSED_AT_RUNG,
                    "live": sorted(LIVE),
                    "most": call.MOST_PROBLEMS,
                    "key": key,
                    "since": timezone.now() - IDEMPOTENCY_WINDOW,
                },
            )
            waiting, own_waiting, taken, made, stamp = cursor.fetchone()
        return cls(
            waiting=waiting,
            own_waiting=own_waiting,
            taken=taken or (),
            made=None if made is None else json.loads(made),
            rules_stamp=stamp,
        )


def check_room(admitted: AdmittedCall, team: Team, there: TeamStock, *, more: int) -> None:
    """Refuse the jobs if more would wait than are allowed to, or their files had no room."""
    limits = admitted.specs[0].pool.disk_limits
    disk = limits.of_team(team.name, bytes_=team.disk_bytes, gibibytes=team.most_disk_gib)
    if disk.is_full:
        raise TeamDiskFull(f"{disk.said()} {disk.remedy()}")
    beside = f" beside the {more} of this bulk" if more > 1 else ""
    own_most = limits_of(team).max_queued_jobs_per_user
    if own_most is not None and there.own_waiting + more > own_most:
        raise TooManyQueued(
            f"You have {there.own_waiting} waiting jobs in team {team.name}, queued or paused,"
            f"{beside} and may have at most {own_most} (max_queued_jobs_per_user). Cancel some,"
            " submit later, or ask a lead of the team to raise it."
        )
    waiting, most = there.waiting, team.max_queued_jobs
    if waiting + more > most:
        raise TooManyQueued(
            f"Team {team.name} has {waiting} waiting jobs, queued or paused,{beside} and may have"
            f" at most {most} (max_queued_jobs). Cancel some, submit later, or ask an admin to"
            " raise it."
        )


def check_names(admitted: AdmittedCall, sent: Sequence[SentSpec], taken: Sequence[str]) -> None:
    """Refuse names that live jobs of the team have."""
    if not taken:
        return
    place_of = {spec.spec.name: one for spec, one in zip(admitted.specs, sent, strict=True)}
    names = ", ".join(map(repr, taken[:3])) + (", …" if taken[3:] else "")
    raise NameInUse(
        f"Team {admitted.team.name} has a live job named {names}. Use another name, or cancel that"
        " job first.",
        [place_of[name].at(_taken(name)) for name in taken],
    )


def _taken(name: str) -> Problem:
    return Problem(
        field="name",
        value=name,
        problem="is the name of a live job of the team",
        remedy="Use another name, or cancel that job first.",
    )
