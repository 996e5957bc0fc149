"""How are counts, shares and names put into words?"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.explanation import OTHER_TEAMS

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import JobRef, Jobs, Owed, UserShare

_ORDINALS: Final = {2: "2nd", 3: "3rd"}
_WHOLE_SECONDS_FROM: Final = 10.0


def gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def seconds(span: float) -> str:
    """`0.4 s`, `12 s`: one decimal where it tells something."""
    return f"{span:.0f} s" if span >= _WHOLE_SECONDS_FROM else f"{span:.1f} s"


def moment(at: float) -> str:
    """Write a moment in UTC, from seconds since 1970: a snapshot's clock wherever people read."""
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")


def job_name(job: JobRef) -> str:
    """Its name, or as much of it as the reader may know."""
    return job.name or _unnamed(job.team, 1)


def names(jobs: Jobs) -> str:
    """Job names as a list in a sentence; those of other teams only by team; how many more."""
    own = [job.name for job in jobs.named if job.name]
    others = Counter(job.team for job in jobs.named if not job.name)
    shown = [*own, *(_unnamed(team, count) for team, count in others.items())]
    if jobs.more:
        return f"{', '.join(shown)} and {jobs.more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def owed(claim: Owed) -> str:
    """`team language is owed 2 of its 2 guaranteed GPUs for ner-bert`."""
    if claim.team == OTHER_TEAMS:
        return "another team has a claim to them"
    guaranteed, takers = claim.guaranteed_gpus, _jobs_of(claim.jobs, claim.team)
    if not claim.missing_gpus:
        return f"team {claim.team} has a claim to {gpus(claim.entitled_gpus)}, for {takers}"
    return (
        f"team {claim.team} is owed {claim.missing_gpus} of its {guaranteed} guaranteed "
        f"{plural(guaranteed, 'GPU', 'GPUs')} for {takers}"
    )


def of_user(user: UserShare, team: str, *, used: int | None = None) -> str:
    """`whoever submitted it uses 4 of at most 4 GPUs in team vision (max_gpus_per_user)`."""
    most = gpus(user.limit_gpus)
    count, elsewhere = user.used_gpus if used is None else used, user.elsewhere_gpus
    apart = f", {elsewhere} of them in other pools" if elsewhere else ""
    return (
        f"whoever submitted it uses {count} of at most {most} in team {team}"
        f" (max_gpus_per_user){apart}"
    )


def _jobs_of(jobs: Jobs, team: str) -> str:
    is_hidden = all(job.team == team and not job.name for job in jobs.named)
    if not is_hidden:
        return names(jobs)
    return "one of its jobs" if jobs.count == 1 else f"{jobs.count} of its jobs"


def _unnamed(team: str | None, count: int) -> str:
    if team is None:
        return "another job" if count == 1 else f"{count} other jobs"
    return f"a job of team {team}" if count == 1 else f"{count} jobs of team {team}"


def plural(count: int, one: str, many: str) -> str:
    """The verb that fits the count: `plural(1, "gives", "give")`."""
    return one if count == 1 else many


def one_more(held: int, larger: int) -> str:
    """The next size up: `a 3rd worker`, or `8 workers` where it is more than one step."""
    if larger == held + 1:
        return f"a {_ORDINALS.get(larger, f'{larger}th')} worker"
    return workers(larger)


def speed_up(gain: float) -> str:
    if round(100 * gain) > 0:
        return f"speed it up by {percent(gain)}"
    if round(100 * gain) < 0:
        return f"slow it down by {percent(-gain)}"
    return "not speed it up"


def changes_speed(gain: float) -> str:
    if round(100 * gain) > 0:
        return f"{percent(gain)} faster"
    if round(100 * gain) < 0:
        return f"{percent(-gain)} slower"
    return "as fast as before"
