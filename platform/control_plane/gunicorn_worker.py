"""How does gunicorn serve `api`? By its own ASGI worker, with connections that are bounded.

gunicorn's own worker accepts any number of connections, whoever opens them; it waits without end
for the first request of each, and for a client to read the last words before the connection ends.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any, Final

from django.conf import settings
from django.utils.module_loading import import_string
from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi
from tenancy.access.addresses import network_of

from control_plane import process_priority
from control_plane.front.callers import CONNECTION
from control_plane.front.connections import SHARE_OF_ONE_ADDRESS, ClientConnections

FIRST_REQUEST_SECONDS: Final = 15.0
OTHER_FILES: Final = 1000  # guessed: of threads, the database, Redis and logs
LAST_WORDS_SECONDS: Final = 20.0  # guessed: as long as a piece of an answer may take
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 2\r\n"
    b"Connection: close\r\nContent-Length: 90\r\n\r\n"
    b'{"code": "overloaded", "message": "Too many connections; try again soon.", "details": [] }'
)


class BoundedProtocol(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """One connection: refused if there are too many, closed if it asks for nothing."""

    _is_in = False
    _patience: asyncio.TimerHandle | None = None
    _waiting: Any = None  # its transport, until it is let in
    _early = b""  # what came before that

    def connection_made(self, transport: Any) -> None:
        wait_seconds = self.worker.connections.seconds_to_wait(_address(transport))
        if wait_seconds is None:
            _refuse(transport)
        elif wait_seconds:
            self._waiting = transport
            self._patience = self.worker.loop.call_later(wait_seconds, self._enter, transport)
        else:
            self._enter(transport)

    def _enter(self, transport: Any) -> None:
        """Let the connection in, and read what came early."""
        if not self.worker.connections.enter(_address(transport), self):
            _refuse(transport)
            return
        self._is_in, self._waiting = True, None
        super().connection_made(transport)
        self._patience = self.worker.loop.call_later(FIRST_REQUEST_SECONDS, self._close_if_silent)
        if self._early:
            early, self._early = self._early, b""
            transport.resume_reading()
            super().data_received(early)

    def data_received(self, data: bytes) -> None:
        if self._is_in:
            super().data_received(data)
        elif self._waiting is not None:
            self._early += data
            self._waiting.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._patience is not None:
            self._patience.cancel()
        if self._is_in:
            self.worker.connections.leave(self)
            super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """True if no request is in progress here, and none was read whole."""
        return bool(self._awaiting_request)

    def belongs_to(self, job: str) -> None:
        """A request with the job's own token came by it."""
        self.worker.connections.belongs_to(job, self)

    def push_out(self) -> None:
        """Close the connection, because another takes its place."""
        self._keepalive_timeout()

    def _build_http_scope(self, request: Any, sockname: Any, peername: Any) -> Any:
        scope = super()._build_http_scope(request, sockname, peername)
        scope[CONNECTION] = self
        return scope

    def _close_transport(self) -> None:
        """Close; after a while, drop what the client has not read."""
        super()._close_transport()
        if self.transport is not None:
            if self._patience is not None:
                self._patience.cancel()
            self._patience = self.worker.loop.call_later(LAST_WORDS_SECONDS, self.transport.abort)

    def _close_if_silent(self) -> None:
        """Close if a first request is too slow; gunicorn's `keepalive` does so for later ones."""
        if self.req_count <= 1 and self._awaiting_request:
            self._keepalive_timeout()


class BoundedWorker(gasgi.ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's ASGI worker over `BoundedProtocol`, for which it has no setting."""

    def init_process(self) -> None:
        process_priority.give_way(process_priority.NICENESS_OF_ANSWERS, leader=self.ppid)
        gasgi.ASGIProtocol = BoundedProtocol
        _allow_files(self.worker_connections + OTHER_FILES)
        super().init_process()

    def handle_exit_signal(self) -> None:
        """End, and let coordinators go that wait: they ask another process, or the next."""
        super().handle_exit_signal()
        import_string("control_plane.front.wiring.HELD").end()

    def load_wsgi(self) -> None:
        """Load the application; with it come the settings."""
        super().load_wsgi()
        import_string("control_plane.front.wiring.share_reads")()
        self.connections = connections(
            self.worker_connections, proxies=settings.REST_FRAMEWORK["NUM_PROXIES"]
        )


def _allow_files(most: int) -> None:
    """Raise the number of files that this process may open, as far as it may itself."""
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < most:
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, now), hard))


def _refuse(transport: Any) -> None:
    transport.write(_FULL)
    transport.close()


def connections(most: int, *, proxies: int) -> ClientConnections:
    """Allow so many, and of one address half as many unless it is our proxy's."""
    share = 1.0 if proxies else SHARE_OF_ONE_ADDRESS
    return ClientConnections(most, most_of_one=max(int(most * share), 1))


def _address(transport: Any) -> str:
    peer = transport.get_extra_info("peername")
    return network_of(peer[0]) if isinstance(peer, tuple) else "here"
