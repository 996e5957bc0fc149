"""Has a job held GPUs for long without using them? Only what was read from outside tells."""

from __future__ import annotations

from datetime import datetime

from autoscaler.reconciling.limits import TimeLimits
from jobs.spec.job_spec import JobSpec
from jobs.spec.quantities import format_duration


def is_idle_too_long(idle_since: datetime | None, spec: JobSpec, now: datetime) -> bool:
    """True if it is so long idle that what its spec says under `idle` is to be done."""
    return spec.idle is not None and _seconds(idle_since, now) >= spec.idle.after


def is_to_shrink(idle_since: datetime | None, spec: JobSpec, now: datetime) -> bool:
    """True if it needs no more than its fewest workers, until it does something again."""
    return (
        spec.idle is not None
        and spec.idle.then == "shrink"
        and is_idle_too_long(idle_since, spec, now)
    )


def is_to_be_told(
    idle_since: datetime | None, spec: JobSpec, limits: TimeLimits, now: datetime
) -> bool:
    """True if its people should hear of it: when something is done, else after a while."""
    after = limits.idleness_told_after if spec.idle is None else spec.idle.after
    return _seconds(idle_since, now) >= after


def sentence(idle_since: datetime, spec: JobSpec, *, can_shrink: bool) -> str:
    """Say since when, and what follows.

    `can_shrink`: its workers share the work, so fewer of them can do it.
    """
    since = f"All its workers have been idle since {idle_since:%H:%M} UTC"
    if spec.idle is None:
        return (
            f"{since}, and their GPUs with them. It is left alone; with `idle: {{after: 30m, then:"
            " shrink}` or `pause` in its spec others could use them."
        )
    after = format_duration(spec.idle.after)
    done = {
        "warn": "It is left alone, as its spec says",
        "shrink": "It keeps its fewest workers until it does something again"
        if can_shrink
        else "Its script cannot do with fewer workers, so it is left alone",
        "pause": "It is paused, and gives its GPUs back",
    }[spec.idle.then]
    return f"{since}. {done} (`idle.after: {after}`, `idle.then: {spec.idle.then}`)."


def _seconds(idle_since: datetime | None, now: datetime) -> float:
    return -1.0 if idle_since is None else (now - idle_since).total_seconds()
