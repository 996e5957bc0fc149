"""How do containers come to wait warm, as many as are wished for, and how do they go again?

A thread looks after one daemon after the other, so that nobody waits for it; what it found last is
told to whoever asks. On each daemon one container at a time gets warm: importing takes cores away
from those who train.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import words
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.record.warm_folders import Kind
from cluster.docker_host.warm.fetching import Fetching
from cluster.docker_host.warm.making import WarmMaking
from cluster.docker_host.warm.setbacks import Setbacks
from cluster.docker_host.warm.waiting import WARM_WITHIN_SECONDS, Waiting, WaitingRoom
from cluster.lock_files import holding
from cluster.worker_host import HostUnavailable, WarmStock, WarmWish

_END_SECONDS: Final = 10.0  # guessed: for whoever is at it; then both are
_AGAIN_SECONDS: Final = 60.0  # guessed: until one that ended by itself is replaced

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Seen:
    """What the thread found last, and whether it is at it."""

    stocks: tuple[WarmStock, ...] = ()
    thread: threading.Thread | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmKeeping:
    """Keeps containers warm on the nodes of one installation."""

    daemons: Daemons
    room: WaitingRoom
    fetching: Fetching
    making: WarmMaking
    setbacks: Setbacks = field(default_factory=Setbacks)
    _seen: _Seen = field(default_factory=_Seen)

    def keep(self, wishes: Sequence[WarmWish]) -> tuple[WarmStock, ...]:
        """See the port. What is told was found since the call before."""
        seen = self._seen
        is_idle = seen.thread is None or not seen.thread.is_alive()
        if is_idle and (wishes or self.room.folders.folder.exists()):
            by_node = self.daemons.endpoints()  # here: a thread has no connection to a database
            seen.thread = threading.Thread(
                target=self._look_after, args=(wishes, by_node), name="keep-warm", daemon=True
            )
            seen.thread.start()
        return seen.stocks

    def end(self) -> None:
        """Remove all that waits; returns when it is gone.

        Raises:
            HostUnavailable, docker.errors.APIError: not all could be removed.
        """
        with holding(self.room.folders.lock_path, seconds=_END_SECONDS):
            by_node = self.daemons.endpoints()
            for endpoint in dict.fromkeys(by_node.values()):
                for waiting in self.room.look(endpoint, by_node):
                    self.room.remove(waiting, endpoint)

    def _look_after(self, wishes: Sequence[WarmWish], by_node: Mapping[str, Endpoint]) -> None:
        """Unless another service process does."""
        with holding(self.room.folders.lock_path, seconds=0.0) as is_ours:
            if is_ours:
                found = [
                    stock
                    for endpoint in dict.fromkeys(by_node.values())
                    for stock in self._tried(endpoint, wishes, by_node)
                ]
                self._seen.stocks = tuple(found)

    def _tried(
        self, endpoint: Endpoint, wishes: Sequence[WarmWish], by_node: Mapping[str, Endpoint]
    ) -> list[WarmStock]:
        here = [wish for wish in wishes if by_node.get(wish.node) == endpoint]
        try:
            return self._tended(endpoint, here, self.room.look(endpoint, by_node))
        except (HostUnavailable, docker.errors.APIError, OSError) as problem:
            _log.warning("Nothing is kept warm: %s", problem, extra={"action": "keep_warm"})
            note = words(problem) if isinstance(problem, docker.errors.APIError) else str(problem)
            return [WarmStock(node=wish.node, image=wish.image, warm=0, note=note) for wish in here]

    def _tended(
        self, endpoint: Endpoint, wishes: Sequence[WarmWish], waiting: Sequence[Waiting]
    ) -> list[WarmStock]:
        unwanted = {one.warm_id: one for one in waiting}
        hopeful = self._hopeful(waiting)
        stocks, missing = [], []
        for wish in wishes:
            kind = self._kind(wish, endpoint)
            kept = sorted((one for one in hopeful if one.folder.kind() == kind), key=_cold)
            kept = kept[: wish.count] if kind else []
            for one in kept:
                if not (one.has_ended and one.age_seconds > _AGAIN_SECONDS):
                    unwanted.pop(one.warm_id, None)
            if kind and len(kept) < wish.count and self.setbacks.may_be_tried(kind):
                missing.append(kind)
            if kind and sum(one.is_warm for one in kept) == wish.count:
                self.setbacks.forget(kind)
            stocks.append(self._stock(wish, kind, kept, endpoint))
        for one in unwanted.values():
            self.room.remove(one, endpoint)
        if missing and not any(one.is_getting_warm for one in waiting):
            self._begin(missing[0], endpoint)
        return stocks

    def _hopeful(self, waiting: Sequence[Waiting]) -> list[Waiting]:
        """Without those that will never be warm; that one hangs is noted."""
        for one in waiting:
            kind = one.folder.kind()
            if kind and one.is_stuck:
                self.setbacks.meet(kind, f"one was not warm after {WARM_WITHIN_SECONDS:.0f} s")
        return [one for one in waiting if not (one.is_abandoned or one.is_stuck)]

    def _begin(self, kind: Kind, endpoint: Endpoint) -> None:
        try:
            self.making.begin(kind, endpoint)
        except docker.errors.APIError as refusal:
            extra = {"action": "keep_warm"}
            _log.warning("Nothing gets warm: %s", words(refusal), extra=extra)
            self.setbacks.meet(kind, f"one did not start: {words(refusal)}")

    def _kind(self, wish: WarmWish, endpoint: Endpoint) -> Kind | None:
        """None: its image is not there yet."""
        image_id = self.fetching.image_id(wish.image, endpoint)
        return None if image_id is None else self.making.kind(wish, image_id, endpoint)

    def _stock(
        self, wish: WarmWish, kind: Kind | None, kept: Sequence[Waiting], endpoint: Endpoint
    ) -> WarmStock:
        warm = sum(one.is_warm for one in kept)
        note = "" if kind else self.fetching.note(wish.image, endpoint)
        if ended := [one for one in kept if one.has_ended]:
            note = self.room.last_words(ended[0], endpoint)
        elif kind and warm < wish.count:
            note = self.setbacks.note(kind) or "starting"
        return WarmStock(node=wish.node, image=wish.image, warm=warm, note=note)


def _cold(waiting: Waiting) -> tuple[bool, bool]:
    """Sorts those first that are warm, and those last that have ended."""
    return waiting.has_ended, not waiting.is_warm
