"""Where does a stream stand, if it can tell? This goes with the training's state.

A stream with `state_dict` and `load_state_dict` is continued by them; any other is read again from
the beginning of the epoch. Only a stream that is read in the worker itself can be asked: with
loading processes it is read ahead, in another process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from concertina_worker.samples.cursor import Cursor


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

    def place(self, *, epoch: int, position: int) -> Bookmark | None: ...


class StreamPlace:
    """The place a stream has come to, or the one where it is to go on."""

    def __init__(self, cursor: Callable[[], Cursor]) -> None:
        """`cursor`: where the training stands."""
        self._cursor = cursor
        self._loaded: Bookmark | None = None
        self._reader: TellsPlace | None = None

    def get(self) -> Bookmark | None:
        """Return the place for the cursor; None when nobody can tell it."""
        now, loaded = self._cursor(), self._loaded
        if self._reader is not None:
            read = self._reader.place(epoch=now.epoch, position=now.position)
            if read is not None:
                return read
        is_there = loaded and (loaded.epoch, loaded.position) == (now.epoch, now.position)
        return loaded if is_there else None

    def set(self, place: Bookmark | None) -> None:
        """Take the place from a checkpoint or another worker; it counts when an epoch is begun.

        A reader is kept: after a recovery most still stand where the training goes on.
        """
        self._loaded = place

    def take(self, reader: TellsPlace | None) -> Bookmark | None:
        """Return what was set; from now on this reader will be asked."""
        self._reader = reader
        return self._loaded
