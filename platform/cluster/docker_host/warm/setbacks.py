"""What could not get warm, why, and when is it tried again?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cluster.docker_host.record.warm_folders import Kind

# Guessed: shorter has a node make and remove more of what never works, longer has admins wait
# until what they put right is seen.
_AGAIN_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setback:
    note: str
    again_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Setbacks:
    """Those a service process met with, by node and image. The newest counts."""

    monotonic: Callable[[], float] = time.monotonic
    _known: dict[tuple[str, str], _Setback] = field(default_factory=dict)

    def meet(self, kind: Kind, note: str) -> None:
        """It failed just now; the note is for people."""
        setback = _Setback(note=note, again_at=self.monotonic() + _AGAIN_SECONDS)
        self._known[kind.node, kind.image_id] = setback

    def forget(self, kind: Kind) -> None:
        """As many are warm as are wanted."""
        self._known.pop((kind.node, kind.image_id), None)

    def may_be_tried(self, kind: Kind) -> bool:
        known = self._known.get((kind.node, kind.image_id))
        return known is None or self.monotonic() >= known.again_at

    def note(self, kind: Kind) -> str:
        """Why the last one failed; empty: none did since all were warm."""
        known = self._known.get((kind.node, kind.image_id))
        return known.note if known else ""
