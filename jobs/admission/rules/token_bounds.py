"""What do the bounds of a token make of a spec that it sends, and what do they refuse?

A spec gets the labels that it leaves out, and the pool if there is only one, as if it said so
itself. One that says another value, or may run in another pool, is refused: whoever made the token
said where its jobs belong.
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


def check(labels: Mapping[str, str], *, pools: Mapping[str, str], bounds: TokenBounds) -> None:
    """See that a job with these labels is one of the token's, wherever it comes to run.

    Args:
        labels: of the job.
        pools: in which it may run, by the field of the spec that names each.
        bounds: of the token.

    Raises:
        SpecInvalid: it is none of the token's.
    """
    if found := [*_problems_of(labels, pools, bounds)]:
        raise SpecInvalid(found)


def _problems_of(
    labels: Mapping[str, str], pools: Mapping[str, str], bounds: TokenBounds
) -> Iterator[Problem]:
    for field, pool in pools.items():
        if bounds.pools and pool not in bounds.pools:
            is_one = field == "pool"
            remedy = f"Say pool: {' or '.join(bounds.pools)}" if is_one else "Leave it out of pools"
            yield Problem(
                field=field,
                value=pool,
                problem=f"is not one that this token is limited to ({bounds})",
                remedy=f"{remedy}, or use another token.",
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
