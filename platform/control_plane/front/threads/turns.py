"""Whose turn is it? Groups take turns, within a group its callers, and requests of one in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Turns(Generic[Item]):
    """Requests that wait, by group and caller, in order of their turns."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[str, deque[Item]]] = {}

    def __len__(self) -> int:
        return sum(self._count(group) for group in self._waiting)

    def groups(self) -> Iterator[str]:
        """Return the groups that wait, each once."""
        return iter(self._waiting)

    def of(self, group: str, caller: str) -> int:
        """Count the requests of the caller that wait."""
        return len(self._waiting.get(group, {}).get(caller, ()))

    def put(self, group: str, caller: str, item: Item) -> None:
        self._waiting.setdefault(group, {}).setdefault(caller, deque()).append(item)

    def remove(self, group: str, caller: str, item: Item) -> None:
        """Let the request no longer wait, if it did."""
        items = self._waiting.get(group, {}).get(caller)
        if items is not None and item in items:
            items.remove(item)
            self._tidy(group, caller)

    def next(self, may_go_on: Callable[[str], bool]) -> Iterator[tuple[str, Item]]:
        """Return the next request: groups that may go on take turns, and so do their callers."""
        while (group := next(filter(may_go_on, self._waiting), None)) is not None:
            callers = self._waiting.pop(group)
            caller, items = next(iter(callers.items()))
            item = items.popleft()
            del callers[caller]
            if items:
                callers[caller] = items  # at the end: the others first
            if callers:
                self._waiting[group] = callers
            yield group, item

    def push_out(self, group: str, caller: str) -> Item | None:
        """Take out the newest request of whoever waits with the most, so that this caller may wait.

        None: nobody waits with so many more. Groups are compared with groups, and callers with
        others of their group.
        """
        largest = max(self._waiting, key=self._count)
        callers = self._waiting[largest]
        crowd = max(callers, key=lambda name: len(callers[name]))
        if largest == group:
            is_more = len(callers[crowd]) > self.of(group, caller) + 1
        else:
            is_more = self._count(largest) > self._count(group) + 1
        if not is_more:
            return None
        item = callers[crowd].pop()
        self._tidy(largest, crowd)
        return item

    def _count(self, group: str) -> int:
        return sum(map(len, self._waiting.get(group, {}).values()))

    def _tidy(self, group: str, caller: str) -> None:
        callers = self._waiting[group]
        if not callers[caller]:
            del callers[caller]
        if not callers:
            del self._waiting[group]
