"""What stands before Django here, with which bounds?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from storage.uploads.pieces import LARGEST_PIECE
from tenancy.access.keys.bearer import bearer_key
from tenancy.buckets import AsyncBuckets, LocalBuckets

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from control_plane.configuration.limit_settings import LARGEST_BODY, LARGEST_BULK
from control_plane.database.statement_bounds import bounded
from control_plane.front.asgi_types import Application, Scope, header
from control_plane.front.bodies import BoundedBodies
from control_plane.front.callers import Callers, caller_of
from control_plane.front.coordinators.batches import SHARE_OF_ONE_JOB, Batches
from control_plane.front.coordinators.held_jobs import HeldJobs
from control_plane.front.coordinators.pace import ReportPacing
from control_plane.front.coordinators.reports import ReportEndpoint, job_that_reports, storing
from control_plane.front.coordinators.waiting import WaitingCoordinators, job_that_waits
from control_plane.front.coordinators.wake_line import WakeLine
from control_plane.front.only_http import OnlyHttp
from control_plane.front.proxies.inside import OnlyFromInside
from control_plane.front.proxies.vouching import VouchedHeaders
from control_plane.front.rates import REFUSAL_SECONDS, RateLimited
from control_plane.front.threads.bulkheads import Bulkheads, sizes
from control_plane.front.threads.processor_shares import ProcessorShares
from control_plane.front.threads.remembered_health import RememberedHealth
from control_plane.web.repeated.shared_reads import SHARED, SHARED_SECONDS
from jobs.api import sync
from jobs.reports import job_token

_BULK: Final = "/api/v1/jobs:bulk"
MOST_HELD: Final = 2000  # half of the connections that the service's own commands allow a process
HELD: Final = HeldJobs(most=MOST_HELD)  # here, so that a server that ends can let them go
_UPLOADS: Final = re.compile(r"/api/v1/teams/[-\w]+/(code|data)/[0-9a-f]{64}", re.ASCII)
_SPECS: Final = frozenset({"/api/v1/jobs", "/api/v1/jobs:validate"})


def in_front_of(django: Application) -> Application:
    """Return the application for the server, behind everything that stands before it."""
    limits = settings.CONCERTINA.limits
    callers = Callers(
        session_cookie=settings.SESSION_COOKIE_NAME,
        proxies=settings.REST_FRAMEWORK["NUM_PROXIES"],
        job_opened_by=job_opened_by,
    )
    others = Bulkheads(
        django, sizes(limits.api_threads, limits.processor_share), refusal_seconds=REFUSAL_SECONDS
    )
    pace = ReportPacing()
    batches = Batches(
        storing(sync.read, sync.answers),
        pace=pace,
        shares=ProcessorShares(share=SHARE_OF_ONE_JOB),
        expected=HELD.expected,
    )
    bodies = BoundedBodies(
        ReportEndpoint(others, batches, pace, refusal_seconds=REFUSAL_SECONDS),
        largest_of=largest_bodies(spec_bytes=limits.largest_spec_bytes),
    )
    redis_url = settings.CONCERTINA.redis_url
    waiting = WaitingCoordinators(
        bodies, held=HELD, line=WakeLine(redis_url, HELD), term_of=term_of_coordinator
    )
    buckets = AsyncBuckets(redis_url)
    counted = RateLimited(
        waiting,
        buckets=buckets,
        local=LocalBuckets(time.monotonic),
        callers=callers,
        limits=limits,
        is_piece=is_piece,
        refusal_seconds=REFUSAL_SECONDS,
    )
    from_inside = OnlyFromInside(
        counted,
        address_of=callers.address,
        is_proxy_believed=bool(settings.REST_FRAMEWORK["NUM_PROXIES"]),
        networks=limits.internal_networks,
    )
    vouched = VouchedHeaders(from_inside, terms=settings.CONCERTINA.proxy)
    return OnlyHttp(RememberedHealth(vouched, is_host_allowed=is_host_allowed))


def share_reads() -> None:
    """Read for all who ask the same at once, from now on."""
    SHARED.seconds = SHARED_SECONDS


def bound_statements() -> None:
    """Bound the statements of all connections that this process will make."""
    seconds, databases = settings.CONCERTINA.limits.statement_seconds, connections.settings
    databases[DEFAULT_DB_ALIAS] = bounded(databases[DEFAULT_DB_ALIAS], statement_seconds=seconds)


def job_opened_by(path: str, token: str) -> str | None:
    """Return the job whose report goes to this path, if the token is that job's own."""
    job_id = job_that_reports(path) or job_that_waits(path)
    if job_id is None or job_token.read(token, job_id, now=timezone.now()) is None:
        return None
    return job_id


def term_of_coordinator(job_id: str, scope: Scope) -> int | None:
    """Return the term of the job's coordinator that sends this; None: it is somebody else."""
    token = bearer_key((header(scope, b"authorization") or b"").decode("latin-1")) or ""
    credential = job_token.read(token, job_id, now=timezone.now())
    return None if credential is None else credential.term


def is_host_allowed(host: str) -> bool:
    """True if Django answers to this name; else it says what is wrong."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def is_piece(scope: Scope) -> bool:
    """True if it brings a piece of code or of data, which may be longer than other bodies."""
    return scope["method"] == "PUT" and _UPLOADS.fullmatch(scope["path"]) is not None


def largest_bodies(*, spec_bytes: int) -> Callable[[Scope], int]:
    """Return the largest body of a request; a whole report needs its job's token."""

    def largest_of(scope: Scope) -> int:
        path = scope["path"]
        if path.startswith("/internal/"):
            return LARGEST_REPORT_BYTES if caller_of(scope).startswith("job:") else spec_bytes
        if path == _BULK:
            return LARGEST_BULK
        if is_piece(scope):
            return LARGEST_PIECE
        return spec_bytes if path in _SPECS else LARGEST_BODY

    return largest_of
