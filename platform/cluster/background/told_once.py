"""Is it news? People hear of a trouble once, however often it is met again."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ToldOnce:
    """What was said last of each thing."""

    _last: dict[Hashable, str] = field(default_factory=dict)

    def is_new(self, about: Hashable, said: str) -> bool:
        """Tell whether this is a trouble, and another than the last; "": there is none."""
        is_same = self._last.pop(about, "") == said
        if said:
            self._last[about] = said
        return not is_same and said != ""

    def keep(self, things: Collection[Hashable]) -> None:
        """Forget what was said of all others."""
        for about in self._last.keys() - set(things):
            del self._last[about]
