"""What can a talk ask for? It is given what comes of it, and errors where it asked."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from concertina.api.request import ApiRequest

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Nothing happens for so long."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStream:
    """An event stream is opened, in place of the one that was open."""

    request: ApiRequest
    silence_seconds: float = 60.0  # after which it counts as broken


@dataclass(frozen=True, slots=True, kw_only=True)
class NextEvent:
    """The next event of the open stream; None where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Generic[Result]):
    """Whoever listens to the talk is given this."""

    value: Result


TalkStep: TypeAlias = ApiRequest | Pause | OpenStream | NextEvent | Said[Any]
"""Of a request comes its status with its content."""
Talk: TypeAlias = Generator[TalkStep, Any, Result]
