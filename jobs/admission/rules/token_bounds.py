"""What do the bounds of a token make of a spec that it sends, and what do they refuse?

A spec gets the labels that it leaves out, and the pool if there is only one. One that says another
value, or is for another pool, is refused: whoever made the token said where its jobs belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenancy.access.token_bounds import TokenBounds

from jobs.errors import Problem, SpecInvalid
from jobs.spec.job_spec import JobSpec


def placed(spec: JobSpec, bounds: TokenBounds | None) -> JobSpec:
    """Return the spec in the only pool of the bounds, where it names none."""
    if bounds is None or spec.pool or len(bounds.pools) != 1:
        return spec
    return spec.model_copy(update={"pool": bounds.pools[0]})


def applied(spec: JobSpec, *, pool: str, bounds: TokenBounds | None) -> JobSpec:
    """Return the spec with the labels of the bounds. Raises: SpecInvalid."""
    if bounds is None:
        return spec
    labels = {**dict(bounds.labels), **spec.labels}
    check(labels, pool=pool, bounds=bounds)
    return spec.model_copy(update={"labels": labels})


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
