"""Where does a stream stand, if it can tell? This goes with the training's state.

A stream with `state_dict` and `load_state_dict` is continued by them; any other is read again from
the beginning of the epoch. Only a stream that is read in the worker itself can be asked: with
loading processes it is read ahead, in another process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """A stream between two samples."""

    epoch: int
    position: int
    samples: list[Any]  # already read, from the position on
    rest: dict[str, Any]  # the stream's own state, behind those samples
    random: tuple[Any, ...]  # the generators from which it goes on drawing


class TellsPlace(Protocol):
    """A reader."""

    def place(self, position: int) -> Bookmark | None: ...


class StreamPlace:
    """The place a stream has come to, or the one where it is to go on."""

    def __init__(self, position: Callable[[], int]) -> None:
        """`position`: where the training stands in the epoch."""
        self._position = position
        self._loaded: Bookmark | None = None
        self._reader: TellsPlace | None = None

    def get(self) -> Bookmark | None:
        return self._reader.place(self._position()) if self._reader else self._loaded

    def set(self, place: Bookmark | None) -> None:
        """From a checkpoint or another worker; takes effect when an epoch is begun."""
        self._loaded = place
        self._reader = None

    def take(self, reader: TellsPlace | None) -> Bookmark | None:
        """What was set; from now on this reader will be asked."""
        self._reader = reader
        return self._loaded
