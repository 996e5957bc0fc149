"""For which other jobs, or arrays of jobs, does a job wait, and for which end of theirs?

Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart
from jobs.wait_condition import WaitCondition

MOST_AWAITED: Final = 100  # by one job
_LONGEST: Final = 80  # as a job's name
JobWord = Annotated[
    str, StringConstraints(min_length=1, max_length=_LONGEST), AfterValidator(check_text)
]
"""The id of a job, or the name of one of the team."""


class AwaitedJob(SpecPart):
    """Another job, or an array of jobs, and how it, or each of these, has to end first."""

    job: JobWord | None = None
    array: JobWord | None = None
    when: Annotated[WaitCondition, Field(strict=False)] = WaitCondition.OK

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.job is None) == (self.array is None):
            raise ValueError("names not exactly one of job and array | Name one of them.")
        return self

    @model_serializer(mode="wrap")
    def _without_the_other(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what it does not name: an earlier release knows no arrays."""
        return {name: value for name, value in dump(self).items() if value is not None}

    @property
    def word(self) -> str:
        """Return what names the job or the array."""
        return self.job or self.array or ""


def _whole(entry: object) -> object:
    return {"job": entry} if isinstance(entry, str) else entry


def _check_once(awaited: Sequence[AwaitedJob]) -> Sequence[AwaitedJob]:
    seen: set[tuple[bool, str]] = set()
    for one in awaited:
        named = (one.array is None, one.word)
        if named in seen:
            raise ValueError(f"names {one.word} twice | Name it once.")
        seen.add(named)
    return awaited


Entry = Annotated[AwaitedJob, BeforeValidator(_whole, json_schema_input_type=JobWord | AwaitedJob)]
DependsOn = Annotated[list[Entry], Field(max_length=MOST_AWAITED), AfterValidator(_check_once)]


def circle_in(awaited: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return names that wait for each other in a circle, each for the next; empty: none do.

    `awaited` holds for each name of one call those of the same call that it waits for.
    """
    done: set[str] = set()
    for start in awaited:
        path: dict[str, Iterator[str]] = {}  # in order: each waits for the next
        name: str | None = start
        while name is not None:
            if name in path:
                names = [*path]
                return names[names.index(name) :]
            if name not in done:
                path[name] = iter(awaited[name])
            name = _next(path, done)
    return ()


def _next(path: dict[str, Iterator[str]], done: set[str]) -> str | None:
    """Return whom the last of the path waits for; whoever waits for nobody else leaves it."""
    while path:
        last = next(reversed(path))
        found = next((one for one in path[last] if one not in done), None)
        if found is not None:
            return found
        del path[last]
        done.add(last)
    return None
