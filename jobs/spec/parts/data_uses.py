"""Which data does a job use, and where do its workers see it?

A source is always shown whole. A part of it, mounted by itself, would be looked up on the node,
where a link that some job made in it could lead anywhere; below a mount, a link leads no further
than the worker sees. Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from itertools import combinations
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from jobs.spec.names import check_text, check_workdir
from jobs.spec.part import SpecPart

MOST_SOURCES: Final = 20  # of one job
_LONGEST_PATH: Final = 1000
OURS: Final = (
    "/checkpoints",
    "/code",
    "/coordinator",
    "/outputs",
    "/reports",
    "/run/concertina",
    "/scratch",
    "/start",
    "/tmp",  # noqa: S108 - of a worker's container
)
"""What the platform shows in containers."""


def _check_path(path: str) -> str:
    plain = posixpath.normpath(f"/{path}").lstrip("/")
    if path.startswith("/"):
        raise ValueError("is not a path in the source | Leave out the first /.")
    if path not in {plain, f"{plain}/"}:
        raise ValueError(f"is not a plain path | Write it without . .. and //: {plain}")
    return plain


def _check_mount(mount: str) -> str:
    plain = check_workdir(mount).rstrip("/") or "/"
    taken = next((ours for ours in OURS if _overlap(plain, ours)), None)
    if taken is not None:
        raise ValueError(
            f"is in conflict with {taken}, which is the platform's | Use a folder beside it, such"
            " as /data/NAME."
        )
    return plain


class DataUse(SpecPart):
    """A source of data, and how the job's workers see it."""

    source: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    path: Annotated[
        str,
        StringConstraints(max_length=_LONGEST_PATH),
        AfterValidator(check_text),
        AfterValidator(_check_path),
    ] = ""  # in the source: where `elastic.data` leads
    mount: (
        Annotated[
            str,
            StringConstraints(max_length=_LONGEST_PATH),
            AfterValidator(check_text),
            AfterValidator(_check_mount),
        ]
        | None
    ) = None
    writable: bool = False

    @property
    def target(self) -> str:
        """Return where containers show the source."""
        return self.mount or f"/data/{self.source}"


def _check_together(uses: Sequence[DataUse]) -> Sequence[DataUse]:
    for one, other in combinations(uses, 2):
        if one.source == other.source:
            raise ValueError(f"names {one.source} twice | Name it once; all of it is there.")
        if _overlap(one.target, other.target):
            raise ValueError(
                f"has {one.source} at {one.target} and {other.source} at {other.target}, one in the"
                " other | Mount them beside each other, such as in"
                f" /data/{one.source} and /data/{other.source}."
            )
    return uses


DataUses = Annotated[list[DataUse], Field(max_length=MOST_SOURCES), AfterValidator(_check_together)]


def _overlap(one: str, other: str) -> bool:
    """True if one of these folders is the other, or lies in it."""
    first, second = PurePosixPath(one), PurePosixPath(other)
    return first.is_relative_to(second) or second.is_relative_to(first)
