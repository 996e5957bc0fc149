"""What stands before Django here, with which bounds?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone
from tenancy.buckets import AsyncBuckets

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from control_plane.configuration.limit_settings import LARGEST_BODY, LARGEST_BULK
from control_plane.database.statement_bounds import bounded
from control_plane.front.asgi_types import Application, Scope
from control_plane.front.bodies import BoundedBodies
from control_plane.front.callers import Callers, caller_of
from control_plane.front.inside import OnlyFromInside
from control_plane.front.only_http import OnlyHttp
from control_plane.front.rates import REFUSAL_SECONDS, RateLimited
from control_plane.front.threads.bulkheads import Bulkheads, sizes
from jobs.reports import job_token

_SYNC: Final = re.compile(r"/internal/v1/jobs/([0-9a-z]{1,12})/sync")
_BULK: Final = "/api/v1/jobs:bulk"
_SPECS: Final = frozenset({"/api/v1/jobs", "/api/v1/jobs:validate"})


def in_front_of(django: Application) -> Application:
    """Return the application for the server, behind everything that stands before it."""
    limits = settings.CONCERTINA.limits
    callers = Callers(
        session_cookie=settings.SESSION_COOKIE_NAME,
        proxies=settings.REST_FRAMEWORK["NUM_PROXIES"],
        job_opened_by=job_opened_by,
    )
    bodies = BoundedBodies(
        Bulkheads(django, sizes(limits.api_threads), refusal_seconds=REFUSAL_SECONDS),
        largest_of=largest_bodies(spec_bytes=limits.largest_spec_bytes),
    )
    buckets = AsyncBuckets(settings.CONCERTINA.redis_url)
    counted = RateLimited(
        bodies, buckets=buckets, callers=callers, limits=limits, refusal_seconds=REFUSAL_SECONDS
    )
    return OnlyHttp(
        OnlyFromInside(
            counted,
            address_of=callers.address,
            is_proxy_believed=bool(settings.REST_FRAMEWORK["NUM_PROXIES"]),
            networks=limits.internal_networks,
        )
    )


def bound_statements() -> None:
    """Bound the statements of all connections that this process will make."""
    seconds, databases = settings.CONCERTINA.limits.statement_seconds, connections.settings
    databases[DEFAULT_DB_ALIAS] = bounded(databases[DEFAULT_DB_ALIAS], statement_seconds=seconds)


def job_opened_by(path: str, token: str) -> str | None:
    """Return the job whose report goes to this path, if the token is that job's own."""
    found = _SYNC.fullmatch(path)
    if found is None or job_token.read(token, found[1], now=timezone.now()) is None:
        return None
    return found[1]


def largest_bodies(*, spec_bytes: int) -> Callable[[Scope], int]:
    """Return the largest body of a request; a whole report needs its job's token."""

    def largest_of(scope: Scope) -> int:
        path = scope["path"]
        if path.startswith("/internal/"):
            return LARGEST_REPORT_BYTES if caller_of(scope).startswith("job:") else spec_bytes
        if path == _BULK:
            return LARGEST_BULK
        return spec_bytes if path in _SPECS else LARGEST_BODY

    return largest_of
