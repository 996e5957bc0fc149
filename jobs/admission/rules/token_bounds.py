"""What do the bounds of a token make of a spec that it sends, and what do they refuse?

A spec gets the labels that it leaves out, and the pool if there is only one, as if it said so
itself. One that says another value, or is for another pool, is refused: whoever made the token said
where its jobs belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenancy.access.token_bounds import TokenBounds

from jobs.errors import Problem, SpecInvalid


def said_by(bounds: TokenBounds | None) -> Mapping[str, Any]:
    """Return the part of a spec that the bounds say."""
    if bounds is None:
        return {}
    labels = {"labels": dict(bounds.labels)} if bounds.labels else {}
    return {**labels, "pool": bounds.pools[0]} if len(bounds.pools) == 1 else labels


def check(labels: Mapping[str, str], *, pool: str, bounds: TokenBounds) -> None:
    """Raises: SpecInvalid, where a job of this pool with these labels is none of the token's."""
    if found := [*_problems_of(labels, pool, bounds)]:
        raise SpecInvalid(found)


def _problems_of(labels: Mapping[str, str], pool: str, bounds: TokenBounds) -> Iterator[Problem]:
    if bounds.pools and pool not in bounds.pools:
        yield Problem(
            field="pool",
            value=pool,
            problem=f"is not one that this token is limited to ({bounds})",
            remedy=f"Say pool: {' or '.join(bounds.pools)}, or use another token.",
            code="token_limit",
        )
    for name, value in bounds.labels:
        if labels.get(name) != value:
            yield Problem(
                field=f"labels.{name}",
                value=labels.get(name),
                problem=f"is not {value}, which this token is limited to ({bounds})",
                remedy=f"Say {value}, or leave it out: a new job gets it by itself, and a job that"
                " has it keeps it.",
                code="token_limit",
            )
