"""For how long is a registry, or a daemon, that makes trouble asked again?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class RetryBudget:
    """The time that trouble may last; it begins with the first trouble after the last progress."""

    seconds: float
    now: Callable[[], float] = time.monotonic
    _heard: set[str] = field(default_factory=set)
    _since: float | None = None

    def hearing(self, tell: Callable[[str], None]) -> Callable[[str], None]:
        """Wrap `tell`: a note that was never heard before is progress."""

        def note_down(note: str) -> None:
            if note not in self._heard:
                self._heard.add(note)
                self._since = None
            tell(note)

        return note_down

    def is_over(self) -> bool:
        """Asked at each trouble."""
        if self._since is None:
            self._since = self.now()
        return self.now() - self._since >= self.seconds
