"""Which guarantees and limits go together in a pool? Promised GPUs must exist.

Written on plain numbers, so that one quota, a form with many, and the command line are checked by
the same rules. A team's settings hold for its own jobs and all teams below it; a parent without a
guarantee of its own promises what its children are promised, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What one team is given of a pool, in GPUs."""

    guaranteed: int = 0
    limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaProblem:
    """A rule that is broken: at which field, and what would be right."""

    field: str
    message: str


def problems_of(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None], *, gpus: int
) -> Iterator[QuotaProblem]:
    """Find what is wrong with the settings of `team`, given those of all others in the pool."""
    own = settings[team]
    if own.limit is not None and own.limit < own.guaranteed:
        yield QuotaProblem(
            field="limit_gpus",
            message=f"The limit ({own.limit}) is below the guarantee ({own.guaranteed})."
            " Raise it, or leave it empty.",
        )
    if own.lending_limit is not None and own.lending_limit > own.guaranteed:
        yield QuotaProblem(
            field="lending_limit_gpus",
            message=f"Team {team} has {own.guaranteed} guaranteed GPUs to lend, not"
            f" {own.lending_limit}. Lower it, or leave it empty to lend all.",
        )
    yield from _promises_to_children(team, settings, parents)
    yield from _promises_of_parent(team, settings, parents)
    yield from _pool_is_large_enough(team, settings, parents, gpus)


def promised_by_the_team_above(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None]
) -> QuotaProblem | None:
    """Find what a lead may not do who divides a guarantee: to promise more of it than there is.

    An admin may: then the pool has to have it, and the team above is promised what those below are.
    """
    parent = parents.get(team)
    if parent is None:
        return None
    has = settings.get(parent, Setting()).guaranteed
    others = sum(promised(c, settings, parents) for c in _children(parent, parents) if c != team)
    if others + promised(team, settings, parents) <= has:
        return None
    return QuotaProblem(
        field="guaranteed_gpus",
        message=f"Team {parent} is guaranteed {has} GPUs, of which {others} are guaranteed to other"
        f" teams below it. Guarantee at most {max(has - others, 0)}, or ask an admin.",
    )


def promised(team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None]) -> int:
    """Return the guarantee of a whole subtree."""
    below = sum(promised(child, settings, parents) for child in _children(team, parents))
    return max(settings.get(team, Setting()).guaranteed, below)


def total_promised(settings: Mapping[str, Setting], parents: Mapping[str, str | None]) -> int:
    """Return what all teams of the pool are guaranteed together; a child's is in its parent's."""
    roots = {_top(team, parents) for team in settings}
    return sum(promised(root, settings, parents) for root in roots)


def _promises_to_children(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None]
) -> Iterator[QuotaProblem]:
    own = settings[team]
    below = sum(promised(child, settings, parents) for child in _children(team, parents))
    if 0 < own.guaranteed < below:
        yield QuotaProblem(
            field="guaranteed_gpus",
            message=f"The teams below {team} are guaranteed {below} GPUs. Guarantee {team} at"
            " least as many, or 0 to let theirs count.",
        )
    if own.limit is not None and own.limit < below:
        yield QuotaProblem(
            field="limit_gpus",
            message=f"The teams below {team} are guaranteed {below} GPUs. Its limit must be at"
            " least that, or empty.",
        )


def _promises_of_parent(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None]
) -> Iterator[QuotaProblem]:
    parent = parents.get(team)
    above = settings.get(parent) if parent is not None else None
    if parent is None or above is None:
        return
    siblings = sum(promised(c, settings, parents) for c in _children(parent, parents) if c != team)
    own = promised(team, settings, parents)
    for most, what in ((above.guaranteed or None, "guaranteed"), (above.limit, "limited to")):
        if most is not None and siblings + own > most:
            yield QuotaProblem(
                field="guaranteed_gpus",
                message=f"Its parent {parent} is {what} {most} GPUs, of which {siblings} are"
                f" guaranteed to other teams below it. Guarantee at most"
                f" {max(most - siblings, 0)}.",
            )


def _pool_is_large_enough(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None], gpus: int
) -> Iterator[QuotaProblem]:
    total = total_promised(settings, parents)
    if total > gpus:
        elsewhere = max(total - settings[team].guaranteed, 0)
        yield QuotaProblem(
            field="guaranteed_gpus",
            message=f"The pool has {gpus} GPUs, of which {elsewhere} are guaranteed to other"
            f" teams. Guarantee at most {max(gpus - elsewhere, 0)}.",
        )


def _children(team: str, parents: Mapping[str, str | None]) -> list[str]:
    return [child for child, above in parents.items() if above == team]


def _top(team: str, parents: Mapping[str, str | None]) -> str:
    while (above := parents.get(team)) is not None:
        team = above
    return team
