"""Into which stretches do changes divide a time, and what holds in each of them?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from autoscaler.gpu_accounts.arithmetic.history import Microseconds


class RecordedTime(Protocol):
    """Something that holds for a time."""

    @property
    def since(self) -> Microseconds: ...

    @property
    def until(self) -> Microseconds: ...


R = TypeVar("R", bound=RecordedTime)


class Changes(Generic[R]):
    """The recordings that begin to hold at one moment, and those that end."""

    __slots__ = ("begun", "ended")

    def __init__(self) -> None:
        self.begun: list[R] = []
        self.ended: list[R] = []


def stretches(
    recordings: Iterable[R], *, since: Microseconds, until: Microseconds
) -> Iterator[tuple[Microseconds, Microseconds, Changes[R]]]:
    """Yield each stretch, from when on until when, with what changes as it begins."""
    at: defaultdict[Microseconds, Changes[R]] = defaultdict(Changes)
    for one in recordings:
        begins, ends = max(one.since, since), min(one.until, until)
        if begins < ends:
            at[begins].begun.append(one)
            at[ends].ended.append(one)
    for begins, ends in pairwise((*sorted(at), until)):
        yield begins, ends, at[begins]
