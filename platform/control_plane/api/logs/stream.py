"""How does a followed log become events? In bounded batches, as fast as the client reads them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cluster.logs.log_positions import LogPositions
from cluster.logs.log_store import DroppedLog, JobLog, ReadStart
from cluster.worker_host import LogLine
from tenancy.access.grants import Grant

from control_plane.api.logs.final_jobs import FinalJobs
from control_plane.api.logs.followed_grants import FollowedGrants, GrantState
from control_plane.front.threads.processor_shares import FRONT_SECONDS, ProcessorShares

KEEP_ALIVE_SECONDS: Final = 15.0  # proxies close a connection that says nothing for a minute
POLL_SECONDS: Final = 0.3  # guessed: quick enough to feel live, slow enough to cost nothing
_LONGEST_POLL_SECONDS: Final = 1.0  # of a log to which nobody writes
_BATCH_BYTES: Final = 256 * 1024
_PAUSE_SECONDS: Final = 0.02  # between full batches, so that others have their turn
_READERS: Final = 4  # threads of this process that read for all streams

_WITHDRAWN: Final = {
    "code": "not_authenticated",
    "message": "You may not follow this log any more: the token was revoked, has expired, or is"
    " limited to other jobs by now, or you were logged out or left the team.",
}
_UNCONFIRMED: Final = {
    "code": "unavailable",
    "message": "For a minute it could not be confirmed that you may follow this log. Try again.",
}

_final_jobs: Final = FinalJobs()
followed_grants: Final = FollowedGrants()
_shares: Final = ProcessorShares(share=0.05)  # of teams, for all that they follow
_readers: Final = ThreadPoolExecutor(_READERS, thread_name_prefix="log-reader")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStream:
    """One person or token follows one log."""

    log: JobLog
    team: str
    grant: Grant
    tail: int | None
    after: LogPositions | None

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the log as server-sent events until the job has ended."""
        _final_jobs.follow(self.log.job_id)
        followed_grants.follow(self.grant)
        try:
            beginning = await _read(self._beginning)
            yield _event(_begun(beginning), name="begin", position=beginning.positions)
            async for event in self._following(beginning.positions):
                yield event
        finally:
            _final_jobs.unfollow(self.log.job_id)
            followed_grants.unfollow(self.grant)

    async def _following(self, positions: LogPositions) -> AsyncIterator[bytes]:
        """Ask if the job has ended before each look, so that its last lines are sent."""
        poll_seconds, spoke_at = POLL_SECONDS, time.monotonic()
        while True:
            is_last_look = await _final_jobs.is_final(self.log.job_id)
            news, count = self.log.news(positions), 0
            while True:
                state = await followed_grants.look_at(self.grant)
                if state is not GrantState.VALID:
                    yield _refusal(state)
                    return
                batch, seconds = await _read(partial(_timed, partial(_batch, news, positions)))
                _shares.use(self.team, seconds + FRONT_SECONDS)
                if not batch:
                    break
                yield batch
                count += 1
                pause = _PAUSE_SECONDS if len(batch) >= _BATCH_BYTES else 0.0
                await asyncio.sleep(max(pause, _shares.wait_seconds(self.team)))
            if is_last_look:
                yield b"event: end\ndata: {}\n\n"
                return
            now = time.monotonic()
            if count:
                poll_seconds, spoke_at = POLL_SECONDS, now
            elif now - spoke_at >= KEEP_ALIVE_SECONDS:
                yield b": nothing new\n\n"
                spoke_at = now
            await asyncio.sleep(poll_seconds)
            poll_seconds = min(poll_seconds * 1.2, _LONGEST_POLL_SECONDS)

    def _beginning(self) -> ReadStart:
        if self.after is not None:
            return ReadStart(positions=self.after, has_earlier=True, is_trimmed=False)
        return self.log.first() if self.tail is None else self.log.last(self.tail)


def document_of(line: LogLine) -> dict[str, Any]:
    """Return a line as the API writes it."""
    return {
        "at": line.at.isoformat().replace("+00:00", "Z"),
        "worker": line.process_id,
        "stream": line.stream,
        "text": line.text,
    }


async def _read(work: Any) -> Any:
    """Read in one of the threads that only read logs."""
    return await asyncio.get_running_loop().run_in_executor(_readers, work)


def _timed(work: Callable[[], bytes]) -> tuple[bytes, float]:
    """Return the result, and how many seconds of a processor it took."""
    began = time.thread_time()
    return work(), time.thread_time() - began


def _batch(news: Iterator[LogLine | DroppedLog], positions: LogPositions) -> bytes:
    """Return the next events, as many as are sent at once; empty if there is nothing new."""
    events, size = [], 0
    for one in news:
        if isinstance(one, DroppedLog):
            cut = {"worker": one.process_id, "bytes": one.size}
            event = _event(cut, name="cut", position=positions)
        else:
            event = _event(document_of(one), position=positions)
        events.append(event)
        size += len(event)
        if size >= _BATCH_BYTES:
            break
    return b"".join(events)


def _event(data: dict[str, Any], *, name: str = "", position: LogPositions | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    text = position.text() if position is not None else ""
    number = f"id: {text}\n" if text else ""
    return f"{head}data: {json.dumps(data)}\n{number}\n".encode()


def _begun(beginning: ReadStart) -> dict[str, bool]:
    return {"has_earlier": beginning.has_earlier, "is_trimmed": beginning.is_trimmed}


def _refusal(state: GrantState) -> bytes:
    if state is GrantState.WITHDRAWN:
        return _event(_WITHDRAWN, name="refused")
    return _event(_UNCONFIRMED, name="interrupted")
