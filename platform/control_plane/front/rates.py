"""May this request go on, or has its sender asked too often? Tokens, persons and jobs are counted.

Reads, writes and reports of a job are counted separately. Whoever shows no credential that was
accepted before counts by address, until Django knows who it is. A long body counts as several
requests, unless it is a piece of an upload. Coordinators, which ask most, are counted by each
process for itself. A refusal takes a moment, so that asking again at once is slower.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from tenancy.buckets import LocalBuckets, TokenBucket, TokensTaken

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from control_plane.configuration.limit_settings import LimitSettings
from control_plane.front.asgi_types import Application, Message, Receive, Scope, Send, header
from control_plane.front.callers import (
    ADDRESS,
    BUCKET,
    CALLER,
    GROUP,
    PRINCIPAL,
    Callers,
    Sender,
    name_of_address,
)
from control_plane.front.refusal import Refusal
from control_plane.front.threads.bulkheads import RequestKind, kind_of

WINDOW_SECONDS: Final = 10  # a bucket holds what its rate gives in so long
BYTES_OF_ONE: Final = 64 * 1024  # guessed: a body of so many costs as much as a request
REFUSAL_SECONDS: Final = 0.5  # guessed: half of the shortest `Retry-After`
_COUNTED: Final = ("/api/", "/internal/", "/admin/", "/metrics")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_MOST_DIGITS: Final = 18  # of a length; Python refuses to read numbers of some thousands
_NOT_ACCEPTED: Final = frozenset({401, 429})


class Buckets(Protocol):
    """Where tokens are taken."""

    async def take(self, buckets: list[TokenBucket]) -> TokensTaken: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    what: str
    per_second: int
    is_local: bool = False  # counted by each process for itself

    def bucket(self, caller: str, *, bytes_announced: int) -> TokenBucket:
        capacity = self.per_second * WINDOW_SECONDS
        return TokenBucket(
            key=f"concertina:rate:{self.what}:{caller}",
            capacity=capacity,
            per_second=float(self.per_second),
            tokens=min(1 + bytes_announced // BYTES_OF_ONE, capacity),
        )


class RateLimited:
    """ASGI middleware: refuses those who ask too often, and tells everybody what is left."""

    def __init__(
        self,
        application: Application,
        *,
        buckets: Buckets,
        local: LocalBuckets,
        callers: Callers,
        limits: LimitSettings,
        is_piece: Callable[[Scope], bool],
        refusal_seconds: float = 0.0,
    ) -> None:
        """`is_piece`: of an upload, whose size is bounded; it counts as one request."""
        self._application = application
        self._refusal_seconds = refusal_seconds
        self._buckets = buckets
        self._local = local
        self._callers = callers
        self._limits = limits
        self._is_piece = is_piece

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        principal = self._callers.recognise(scope)
        scope[ADDRESS] = self._callers.address(scope)
        sender = principal or Sender(name=name_of_address(scope[ADDRESS]))
        scope[CALLER], scope[GROUP] = sender.name, sender.group
        rule = self._rule(scope, is_known=principal is not None)
        taken, bucket = None, None
        if rule is not None:
            is_one = principal is not None and self._is_piece(scope)
            announced = 0 if is_one else _bytes_announced(scope)
            bucket = rule.bucket(scope[CALLER], bytes_announced=announced)
            scope[BUCKET] = bucket
            buckets = [bucket]
            is_local = rule.is_local
            taken = self._local.take(buckets) if is_local else await self._buckets.take(buckets)
            if not taken.is_allowed:
                await asyncio.sleep(self._refusal_seconds)
                await _refusal(rule, bucket, taken).answer(send)
                return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._learn(scope, message["status"], known=principal)
                if bucket is not None and taken is not None:
                    message["headers"] = [*message.get("headers", ()), *_headers(bucket, taken)]
            await send(message)

        await self._application(scope, receive, sending)

    def _rule(self, scope: Scope, *, is_known: bool) -> _Rule | None:
        path = scope["path"]
        kind, is_read = kind_of(path), scope["method"] in _READS
        if not path.startswith(_COUNTED) or kind is RequestKind.HEALTH:  # which is cheap
            return None
        if kind is RequestKind.SIGN_IN and not is_known:
            # apart: who floods the rest can still sign in
            rule = (
                _Rule(what="sign-in-read", per_second=self._limits.read_rate)
                if is_read
                else _Rule(what="sign-in", per_second=self._limits.unknown_rate)
            )
        elif not is_known:
            rule = _Rule(what="unknown", per_second=self._limits.unknown_rate)
        elif kind is RequestKind.COORDINATORS and is_read:
            # apart: reports do not wait for who waits
            rule = _Rule(what="wake", per_second=self._limits.sync_rate, is_local=True)
        elif kind is RequestKind.COORDINATORS:
            rule = _Rule(what="sync", per_second=self._limits.sync_rate, is_local=True)
        elif is_read:
            rule = _Rule(what="read", per_second=self._limits.read_rate)
        else:
            rule = _Rule(what="write", per_second=self._limits.write_rate)
        return rule if rule.per_second else None

    def _learn(self, scope: Scope, status: int, *, known: Sender | None) -> None:
        principal: Sender | None = scope.get(PRINCIPAL)
        if principal is None or (known is not None and principal.name == known.name):
            return
        if status in _NOT_ACCEPTED:
            return
        self._callers.learn(scope, principal)
        if kind_of(scope["path"]) is not RequestKind.SIGN_IN:  # each of which is a first request
            scope[GROUP] = principal.group or principal.name  # who pays for it


def _bytes_announced(scope: Scope) -> int:
    """Return the announced length; without one, as many bytes as a report may have."""
    announced = header(scope, b"content-length") or b""
    if announced.isdigit():
        return min(int(announced[:_MOST_DIGITS]), LARGEST_REPORT_BYTES)
    return LARGEST_REPORT_BYTES if header(scope, b"transfer-encoding") else 0


def _headers(bucket: TokenBucket, taken: TokensTaken) -> list[tuple[bytes, bytes]]:
    return [
        (b"ratelimit-limit", b"%d" % bucket.capacity),
        (b"ratelimit-remaining", b"%d" % taken.remaining),
        (b"ratelimit-reset", b"%d" % math.ceil(taken.reset_seconds)),
        (b"ratelimit-policy", b"%d;w=%d" % (bucket.capacity, bucket.window_seconds)),
    ]


_WHOSE: Final = {
    "read": "read requests",
    "write": "requests that change something",
    "sync": "reports of this job",
    "wake": "requests of this job's coordinator that wait",
    "sign-in-read": "requests of this address that ask who is signed in",
    "sign-in": "attempts of this address to sign in",
    "unknown": "requests of this address without a credential that was accepted before",
}


def _refusal(rule: _Rule, bucket: TokenBucket, taken: TokensTaken) -> Refusal:
    wait = max(math.ceil(taken.wait_seconds), 1)
    return Refusal(
        status=429,
        code="too_many_requests",
        message=f"These were too many {_WHOSE[rule.what]}: {rule.per_second} a second are allowed,"
        f" {bucket.capacity} at once{_long(bucket)}. Try again in {wait} s.",
        retry_after_seconds=wait,
        headers=tuple(_headers(bucket, taken)),
    )


def _long(bucket: TokenBucket) -> str:
    if bucket.tokens == 1:
        return ""
    return f", and this one counts as {bucket.tokens} for the length of its body"
