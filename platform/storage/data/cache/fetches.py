"""Which fetchers are at work, what came of others, and when is what failed tried again?

Only this process remembers it: what it forgets with its end is begun anew, and goes on with the
pieces that are there.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from autoscaler.backoff import Backoff
from storage.data.cache import turns
from storage.data.cache.room import Key
from storage.data.cache.turns import TurnClaim
from storage.data.fetcher.orders import FetchResult, Status

MOST_AT_ONCE: Final = 3  # guessed: each takes up to a core and some 150 MB
PATIENCE: Final = timedelta(minutes=30)  # with a store that does not answer, while nothing comes
_BETWEEN_TRIES: Final = Backoff(first_seconds=2.0, longest_seconds=60.0)
_HANDED_ON: Final = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ")

_log = logging.getLogger(__name__)


class FetcherInput(Protocol):
    """What a fetcher is told on its standard input."""

    @property
    def status(self) -> str:
        """Return the file in which it says how far it is."""

    def dump(self) -> bytes:
        """Return it as a line."""


@dataclass(slots=True, kw_only=True)
class _Running:
    process: subprocess.Popen[bytes]
    claim: TurnClaim
    status_file: Path
    first_at: datetime | None = None  # when it was first seen to have fetched something
    first_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTrouble:
    """What came of a fetch that did not do it."""

    problem: str
    result: FetchResult
    since: datetime  # nothing has come since then
    next_at: datetime | None  # when it is tried again; None: never
    tries: int = 1
    done_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedFetch:
    """A fetch that is over, and whose it was: a version, or of version "" the listing."""

    key: Key
    status: Status
    began_at: datetime


@dataclass(slots=True)
class Fetches:
    """Those of this process. `notice` is called, by a thread, as each of them ends."""

    notice: Callable[[], object] = lambda: None
    patience: timedelta = PATIENCE
    program: str = "storage.data.fetcher"
    _running: dict[Key, _Running] = field(default_factory=dict)
    _troubles: dict[Key, FetchTrouble] = field(default_factory=dict)
    _waiting: dict[Key, TurnClaim] = field(default_factory=dict)
    _asked: set[Key] = field(default_factory=set)  # those that wait, since the last `keep_only`

    def __contains__(self, key: Key) -> bool:
        return key in self._running

    def is_due(self, key: Key, now: datetime, *, owner: str) -> bool:
        """True if it may begin: there is a place for it, and it did not fail a moment ago."""
        trouble = self._troubles.get(key)
        if trouble is not None and (trouble.next_at is None or trouble.next_at > now):
            return False
        if key in self._running:
            return False
        self._asked.add(key)
        self._waiting.setdefault(key, TurnClaim(owner=owner, since=now))
        running = {one: found.claim for one, found in self._running.items()}
        if len(running) >= MOST_AT_ONCE and (over := turns.who_gives_way(running, owner, now)):
            self._end(over)
            del running[over]
        return key in turns.next_ones(running, self._waiting, MOST_AT_ONCE)

    def begin(self, key: Key, order: FetcherInput, now: datetime, *, owner: str) -> None:
        """Begin what is due."""
        self._waiting.pop(key, None)
        status_file = Path(order.status)
        status_file.unlink(missing_ok=True)
        process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-m", self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=_environment(),
        )
        self._running[key] = _Running(
            process=process, claim=TurnClaim(owner=owner, since=now), status_file=status_file
        )
        _give(process, order)
        threading.Thread(
            target=self._await, args=(process,), name="await-fetcher", daemon=True
        ).start()

    def ended(self, now: datetime) -> Iterator[FinishedFetch]:
        """Yield each fetch that has ended since the last look."""
        for key, one in list(self._running.items()):
            if one.process.poll() is None:
                continue
            del self._running[key]
            _close(one.process)
            status = Status.read(one.status_file)
            if status.result is None:
                code = one.process.returncode
                said = f"its fetcher ended with code {code}"
                status = replace(status, result=FetchResult.LATER, problem=said)
            self._remember(key, status, now)
            yield FinishedFetch(key=key, status=status, began_at=one.claim.since)

    def put_off(self, outcome: FinishedFetch, problem: str, now: datetime) -> None:
        """Try again later what has ended well and is of no use all the same."""
        self._remember(
            outcome.key, replace(outcome.status, result=FetchResult.LATER, problem=problem), now
        )

    def trouble(self, key: Key) -> FetchTrouble | None:
        return self._troubles.get(key)

    def status(self, key: Key, now: datetime) -> tuple[Status, float | None] | None:
        """Return how far a fetch is, and the seconds it may take yet; None: it does not run."""
        if (one := self._running.get(key)) is None:
            return None
        status = Status.read(one.status_file)
        if one.first_at is None:
            if status.done_bytes:
                one.first_at, one.first_bytes = now, status.done_bytes
            return status, None
        seconds = (now - one.first_at).total_seconds()
        came = status.done_bytes - one.first_bytes
        if came <= 0 or seconds <= 0:
            return status, None
        return status, (status.total_bytes - status.done_bytes) * seconds / came

    def keep_only(self, wanted: Collection[Key]) -> Collection[Key]:
        """End what nobody wants any more, and forget what troubles there were with it."""
        ended = [key for key in self._running if key not in wanted]
        for key in ended:
            self._end(key)
        self._troubles = {key: one for key, one in self._troubles.items() if key in wanted}
        self._waiting = {key: one for key, one in self._waiting.items() if key in self._asked}
        self._asked = set()
        return ended

    def close(self) -> None:
        """End them all."""
        self.keep_only(())

    def _end(self, key: Key) -> None:
        one = self._running.pop(key)
        one.process.kill()
        _close(one.process)

    def _remember(self, key: Key, status: Status, now: datetime) -> None:
        before = self._troubles.pop(key, None)
        if status.result is None or status.result is FetchResult.DONE:
            return
        has_moved = before is None or status.done_bytes > before.done_bytes
        tries = 1 if before is None or has_moved else before.tries + 1
        since = now if before is None or has_moved else before.since
        is_over = status.result is not FetchResult.LATER or now - since >= self.patience
        pause = _BETWEEN_TRIES.seconds_after(tries)
        self._troubles[key] = FetchTrouble(
            problem=status.problem,
            result=status.result,
            since=since,
            next_at=None if is_over else now + timedelta(seconds=pause),
            tries=tries,
            done_bytes=max(status.done_bytes, before.done_bytes if before else 0),
        )
        extra = {"action": "fetch", "source": key[0], "tries": tries}
        _log.warning("Data was not fetched: %s", status.problem, extra=extra)

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self.notice()


def _environment() -> Mapping[str, str]:
    """Nothing of the service's own: neither secrets nor where it is."""
    found = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    return {
        **found,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "HOME": "/nonexistent",
    }


def _give(process: subprocess.Popen[bytes], order: FetcherInput) -> None:
    """Write the order; what it is not read by now has ended, and that is seen later."""
    if process.stdin is None:
        return
    try:
        process.stdin.write(order.dump())
        process.stdin.flush()
    except OSError:
        _log.warning("A fetcher did not take its order.", extra={"action": "fetch"})


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        try:
            process.stdin.close()
        except OSError:
            _log.debug("A fetcher had closed its input.")
    process.wait()
