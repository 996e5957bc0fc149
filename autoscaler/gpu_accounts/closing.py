"""How do hours that are over come into the accounts? Each in one transaction, in their order.

An hour is over when a tick has written down what it saw after it. To close it again makes the same
lines; whoever is killed in the middle has written nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, time, timedelta
from typing import Final, TypeVar

from django.db import connection, transaction
from django.db.models import Max, Min, Q, QuerySet

from autoscaler.gpu_accounts.arithmetic import owed
from autoscaler.gpu_accounts.arithmetic.history import HeldGpus, Microseconds, RecordedCapacity
from autoscaler.gpu_accounts.arithmetic.hour import PoolHour, pool_hour
from autoscaler.gpu_accounts.arithmetic.promises import PastQuota, promises_in
from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountOwner,
    AccountsClock,
    CapacitySpan,
    ClosedHour,
    DayLine,
    HeldSpan,
    HourLine,
    OwedHour,
    OwedSpan,
    PromiseSpan,
    TeamDay,
    UnseenSpan,
)
from autoscaler.gpu_accounts.models.recordings import RecordedSpan

HOUR: Final = timedelta(hours=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
S = TypeVar("S", bound=RecordedSpan)
_MICROSECOND: Final = timedelta(microseconds=1)
_SECOND: Final = 1_000_000
_LONGEST_SECONDS: Final = 30 * 24 * 3600.0  # guessed: nobody stands still for so long
_MOST_LOST: Final = 2**63 // 25  # in an hour, as a job reports of itself: 24 can be added up
_SUMS: Final = ", ".join(f"sum({name})" for name in DayLine.AMOUNTS)
_ADD_UP_DAY: Final = f"""
    INSERT INTO gpu_accounts_dayline (day, owner_id, job_id, {", ".join(DayLine.AMOUNTS)})
    SELECT %(day)s, owner_id, job_id, {_SUMS} FROM gpu_accounts_hourline
    WHERE hour >= %(since)s AND hour < %(until)s GROUP BY owner_id, job_id
"""  # noqa: S608 - of names of columns
_ADD_UP_TEAMS: Final = f"""
    INSERT INTO gpu_accounts_teamday (day, pool, team, {", ".join(DayLine.AMOUNTS)})
    SELECT day, owner.pool, owner.team, {_SUMS}
    FROM gpu_accounts_dayline JOIN gpu_accounts_accountowner AS owner ON owner.id = owner_id
    WHERE day = %(day)s GROUP BY day, owner.pool, owner.team
"""  # noqa: S608 - of names of columns


def close_hours(*, has_time: Callable[[], bool]) -> int:
    """Close the hours that are over while there is time; return how many."""
    closed = 0
    while has_time() and (hour := next_to_close()) is not None:
        close_hour(hour)
        closed += 1
    return closed


def next_to_close() -> datetime | None:
    """Return the first hour that is over and not closed; None: there is none."""
    clock = AccountsClock.objects.first()
    last: datetime | None = ClosedHour.objects.aggregate(hour=Max("hour"))["hour"]
    first: datetime | None = CapacitySpan.objects.aggregate(since=Min("since"))["since"]
    if clock is None or (last is None and first is None):
        return None
    hour = last + HOUR if last is not None else hour_of(first or clock.at)
    return hour if hour + HOUR <= clock.at else None


@transaction.atomic
def close_hour(hour: datetime) -> None:
    """Write the lines of the hour, and those of its day anew."""
    until = hour + HOUR
    accounts = dict(_accounts_of(hour, until))
    owners = _Owners()
    HourLine.objects.filter(hour=hour).delete()
    HourLine.objects.bulk_create(
        line for pool, one in accounts.items() for line in _lines(hour, pool, one, owners)
    )
    day = datetime.combine(hour.date(), time(), tzinfo=UTC)
    for kind in (DayLine, TeamDay):
        kind._default_manager.filter(day=day.date()).delete()  # noqa: SLF001 - its name
    with connection.cursor() as cursor:
        cursor.execute(
            _ADD_UP_DAY, {"day": day.date(), "since": day, "until": day + timedelta(days=1)}
        )
        cursor.execute(_ADD_UP_TEAMS, {"day": day.date()})
    OwedHour.objects.filter(hour=hour).delete()
    OwedHour.objects.bulk_create(_owed(hour, until))
    unseen = (
        min(span.until or until, until) - max(span.since, hour)
        for span in _within(UnseenSpan, hour)
    )
    ClosedHour.objects.update_or_create(
        hour=hour,
        defaults={
            "capacities": {pool: one.capacity for pool, one in accounts.items()},
            "excess": sum(one.excess for one in accounts.values()),
            "unseen": sum(unseen, timedelta()) // _MICROSECOND,
        },
    )


def hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def moment_of(at: datetime) -> Microseconds:
    return (at - _EPOCH) // _MICROSECOND


def _accounts_of(hour: datetime, until: datetime) -> Iterator[tuple[str, PoolHour]]:
    begins, ends = moment_of(hour), moment_of(until)
    held: defaultdict[str, list[HeldGpus]] = defaultdict(list)
    for span in _within(HeldSpan, hour).select_related("job"):
        held[span.job.pool].append(_held(span, ends))
    quotas: defaultdict[str, list[PastQuota]] = defaultdict(list)
    for promise in _within(PromiseSpan, hour):
        quotas[promise.pool].append(_quota(promise, ends))
    capacities: defaultdict[str, list[RecordedCapacity]] = defaultdict(list)
    for one in _within(CapacitySpan, hour):
        capacity = RecordedCapacity(
            since=moment_of(one.since), until=_end(one, ends), gpus=one.gpus
        )
        capacities[one.pool].append(capacity)
    for pool in sorted({*held, *capacities}):
        promises = list(promises_in(quotas[pool], since=begins, until=ends))
        yield pool, pool_hour(held[pool], promises, capacities[pool], since=begins, until=ends)


def _within(kind: type[S], hour: datetime) -> QuerySet[S]:
    rows: QuerySet[S] = kind._default_manager.filter(  # noqa: SLF001 - its name
        Q(until=None) | Q(until__gt=hour), since__lt=hour + HOUR
    )
    return rows.order_by("since", "id")


def _end(span: RecordedSpan, ends: Microseconds) -> Microseconds:
    return moment_of(span.until) if span.until is not None else ends


def _held(span: HeldSpan, ends: Microseconds) -> HeldGpus:
    return HeldGpus(
        since=moment_of(span.since),
        until=_end(span, ends),
        team=span.job.team,
        job=span.job_id,
        gpus=span.gpus,
        starting_gpus=span.starting_gpus,
        priority=span.priority,
        stall=_microseconds(span.stall_seconds),
        lost=round(span.lost_gpu_seconds * _SECOND),
    )


def _quota(span: PromiseSpan, ends: Microseconds) -> PastQuota:
    return PastQuota(
        since=moment_of(span.since),
        until=_end(span, ends),
        team=span.team,
        parent=span.parent,
        guaranteed=span.guaranteed_gpus,
        limit=span.limit_gpus,
        lending_limit=span.lending_limit_gpus,
    )


def _microseconds(seconds: float) -> Microseconds:
    """What a job reports of itself: nothing is longer than the longest that makes sense."""
    return round(min(max(seconds, 0.0), _LONGEST_SECONDS) * _SECOND)


def _lines(hour: datetime, pool: str, accounts: PoolHour, owners: _Owners) -> Iterator[HourLine]:
    jobs = AccountedJob.objects.in_bulk([job for _, job in accounts.by_job])
    for (team, job), held in sorted(accounts.by_job.items()):
        owner = owners.number(pool, team, jobs[job].user)
        held.lost = min(held.lost, _MOST_LOST)
        if held.guaranteed or held.borrowed:
            yield HourLine(hour=hour, owner_id=owner, job_id=job, **asdict(held))
    for team, unused in sorted(accounts.by_team.items()):
        if unused.lent or unused.reserved or unused.idle:
            owner = owners.number(pool, team, "")
            yield HourLine(hour=hour, owner_id=owner, **asdict(unused))


def _owed(hour: datetime, until: datetime) -> Iterator[OwedHour]:
    begins, ends = moment_of(hour), moment_of(until)
    spans: defaultdict[tuple[str, str], list[owed.OwedStretch]] = defaultdict(list)
    for one in _within(OwedSpan, hour):
        missing = {cause: known["gpus"] for cause, known in one.missing.items()}
        spans[one.pool, one.team].append(
            owed.OwedStretch(
                since=moment_of(one.since), until=_end(one, ends), missing_gpus=missing
            )
        )
    for (pool, team), of_team in sorted(spans.items()):
        time = owed.owed_time(of_team, since=begins, until=ends)
        if time.working:
            yield OwedHour(
                hour=hour,
                pool=pool,
                team=team,
                working=time.working,
                given=time.given,
                missing=dict(time.missing),
            )


class _Owners:
    """The numbers of those whom GPU time belongs to; who is new gets one."""

    def __init__(self) -> None:
        self._known = {(one.pool, one.team, one.user): one.pk for one in AccountOwner.objects.all()}

    def number(self, pool: str, team: str, user: str) -> int:
        key = (pool, team, user)
        if key not in self._known:
            self._known[key] = AccountOwner.objects.create(pool=pool, team=team, user=user).pk
        return self._known[key]
