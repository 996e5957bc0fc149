"""How does what a command writes reach its reader? On the event loop, without any thread."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from tenancy.access.grants import Grant

from control_plane.api.logs.followed_grants import GrantState
from control_plane.api.logs.stream import followed_grants
from control_plane.front.threads.processor_shares import FRONT_SECONDS, ProcessorShares
from control_plane.shells import mailbox
from control_plane.shells.ended import note_end
from control_plane.shells.orders import ENDED, OUTPUT, TAKEN_SECONDS, ShellEnd, ShellOrder
from control_plane.web import leased_slots

KEEP_ALIVE_SECONDS: Final = 15.0  # proxies close a connection that says nothing for a minute
_WAIT_SECONDS: Final = 1
_TIMEOUT_SECONDS: Final = 3.0
_WITHDRAWN: Final = (
    "You may not have this shell any more: the token was revoked or has expired, or you were logged"
    " out or left the team."
)
_UNCONFIRMED: Final = "For a minute it could not be confirmed that you may have this shell."
_NOT_TAKEN: Final = (
    "Nothing took the order in time: the part of the service that reaches workers is down, or does"
    " not know that shells are on. CONCERTINA_SHELL_TEAMS has to be set for `control`, too."
)
_LOST: Final = "The part of the service that reaches workers has ended, and the command with it."

_shares: Final = ProcessorShares(share=0.05)  # of teams, for all that their shells write
_leaving: Final[set[asyncio.Task[None]]] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOutput:
    """One person reads what one command writes."""

    order: ShellOrder
    grant: Grant
    team: str

    async def events(self) -> AsyncIterator[bytes]:
        """Give the order, and yield what comes of it."""
        client = redis.asyncio.Redis.from_url(
            settings.CONCERTINA.redis_url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        followed_grants.follow(self.grant)
        staying = asyncio.ensure_future(self._stay(client))
        try:
            await client.rpush(mailbox.ORDERS, self.order.text())
            await client.expire(mailbox.ORDERS, mailbox.LIST_SECONDS)
            yield _event("begin", {"shell": self.order.id, "worker": self.order.worker})
            async for event in self._passed_on(client):
                yield event
        except (redis.RedisError, OSError):
            yield _end(ShellEnd.RELAY_LOST, _LOST)
        finally:
            staying.cancel()
            followed_grants.unfollow(self.grant)
            task = asyncio.ensure_future(self._leave(client, staying))
            _leaving.add(task)
            task.add_done_callback(_leaving.discard)

    async def _passed_on(self, client: Any) -> AsyncIterator[bytes]:
        began = spoke_at = looked_at = time.monotonic()
        was_taken = False
        while True:
            found = await client.blpop([mailbox.outputs(self.order.id)], timeout=_WAIT_SECONDS)
            now = time.monotonic()
            if found is not None:
                was_taken = True
                item: bytes = found[1]
                yield _event_of(item)
                spoke_at = now
                if item[:1] == ENDED:
                    return
                _shares.use(self.team, FRONT_SECONDS)
                await asyncio.sleep(_shares.wait_seconds(self.team))
            elif now - spoke_at >= KEEP_ALIVE_SECONDS:
                yield b": nothing new\n\n"
                spoke_at = now
            state = await followed_grants.look_at(self.grant)
            if state is not GrantState.VALID:
                await self._withdraw(client)
                told = _WITHDRAWN if state is GrantState.WITHDRAWN else _UNCONFIRMED
                yield _end(ShellEnd.WITHDRAWN, told)
                return
            if now - looked_at >= mailbox.RENEW_SECONDS:
                looked_at = now
                is_there = await client.exists(mailbox.alive(self.order.id))
                was_taken = was_taken or bool(is_there)
                has_more = await client.exists(mailbox.outputs(self.order.id))  # asked afterwards
                if not is_there and not has_more and (was_taken or now - began > TAKEN_SECONDS):
                    yield await self._lost(was_taken=was_taken)
                    return

    async def _stay(self, client: Any) -> None:
        """Mark that the client is there, as long as its answer lasts and it may have it.

        Whoever reads slowly holds the answer up, but not this. No shell lasts longer than so.
        """
        give_up_at = time.monotonic() + settings.CONCERTINA.shells.longest_seconds
        while time.monotonic() < give_up_at:
            await asyncio.sleep(mailbox.RENEW_SECONDS)
            with suppress(redis.RedisError, OSError):  # the answer itself then ends soon
                if await followed_grants.look_at(self.grant) is not GrantState.VALID:
                    await self._withdraw(client)
                    return
                await self._renew(client)

    async def _withdraw(self, client: Any) -> None:
        """Have the relay end it for this reason."""
        await client.set(mailbox.withdrawn(self.order.id), "1", ex=mailbox.LIST_SECONDS)

    async def _renew(self, client: Any) -> None:
        """Let the client's mark, what waits for it, and its slots last a while longer."""
        shell, slots = self.order.id, mailbox.slots(self.order)
        async with client.pipeline(transaction=False) as pipeline:
            pipeline.expire(mailbox.held(shell), mailbox.LEASE_SECONDS)
            pipeline.expire(mailbox.outputs(shell), mailbox.LIST_SECONDS)
            pipeline.eval(leased_slots.RENEW, len(slots), *slots, shell, mailbox.LEASE_SECONDS)
            await pipeline.execute()

    async def _lost(self, *, was_taken: bool) -> bytes:
        """Write down the end that the relay cannot write any more."""
        end = ShellEnd.RELAY_LOST if was_taken else ShellEnd.CANNOT_START
        note = sync_to_async(note_end, thread_sensitive=False)
        await note(self.order, end, exit_code=None)
        return _end(end, _LOST if was_taken else _NOT_TAKEN)

    async def _leave(self, client: Any, staying: asyncio.Task[None]) -> None:
        """Say that nobody reads any more; what this cannot say expires."""
        await asyncio.gather(staying, return_exceptions=True)
        try:
            await client.delete(mailbox.held(self.order.id))
            for key in mailbox.slots(self.order):
                await client.zrem(key, self.order.id)
        except (redis.RedisError, OSError):
            pass
        finally:
            await client.aclose()


def _event_of(item: bytes) -> bytes:
    kind, payload = item[:1], item[1:]
    if kind == ENDED:
        return _event("end", json.loads(payload))
    data = base64.b64encode(payload).decode()
    return _event("output" if kind == OUTPUT else "errors", {"data": data})


def _end(end: ShellEnd, message: str) -> bytes:
    return _event("end", {"end": end.value, "message": message, "exit_code": None})


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
