"""Which reads can be live, and how is one read for all who may see the same?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, QueryDict
from django.urls import resolve
from rest_framework.response import Response
from tenancy.access.principal import KnownUser, Principal, principal_of_user

MOST_READS: Final = 12  # of one stream: what a page shows
LONGEST_READ: Final = 400  # characters
_QUICK: Final = 2.0  # seconds between two reads: what moves while somebody looks
_SLOW: Final = 10.0  # charts, of which a new point is a pixel, and sums over hours

_OF_A_JOB: Final = re.compile(r"^/api/v1/jobs/[^/{}]+(/[^/]+)?$")

OF_THEIR_READER: Final = {"/api/v1/jobs/{job_id}"}  # which say what their reader may do

# What all others answer depends on nothing but the teams that somebody sees, and on being an admin.
SECONDS_OF: Final = {
    "/api/v1/cluster/gpus": _SLOW,
    "/api/v1/cluster/prices": _SLOW,
    "/api/v1/cluster/summary": _SLOW,
    "/api/v1/cluster/utilisation": _SLOW,
    "/api/v1/health": _SLOW,
    "/api/v1/jobs": _QUICK,
    "/api/v1/jobs:compare": _SLOW,
    "/api/v1/jobs:sparklines": _SLOW,
    "/api/v1/jobs/{job_id}": _QUICK,
    "/api/v1/jobs/{job_id}/dependencies": _QUICK,
    "/api/v1/jobs/{job_id}/events": _QUICK,
    "/api/v1/jobs/{job_id}/explain": _QUICK,
    "/api/v1/jobs/{job_id}/generations": _QUICK,
    "/api/v1/jobs/{job_id}/metrics": _QUICK,
    "/api/v1/jobs/{job_id}/usage": _SLOW,
    "/api/v1/jobs/{job_id}/workers": _QUICK,
    "/api/v1/pools": _QUICK,
    "/api/v1/teams": _QUICK,
    "/api/v1/ticks": _QUICK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewpoint:
    """What people have in common who see the same: their teams, or that they are admins."""

    is_admin: bool
    team_ids: frozenset[int]

    @classmethod
    def of(cls, principal: Principal) -> Viewpoint:
        return cls(is_admin=principal.is_admin, team_ids=frozenset(principal.seen_ids))


class ViewpointChanged(Exception):
    """Who looked sees other teams by now: what is read for them is not for those who do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a read answered."""

    status: int
    body: bytes  # JSON

    def as_event(self, read: str) -> bytes:
        """Return the server-sent event that tells of it."""
        body = self.body if self.status == HTTPStatus.OK else b"null"
        head = f'{{"read": {json.dumps(read)}, "status": {self.status}, "body": '
        return b"event: read\ndata: " + head.encode() + body + b"}\n\n"


def problem_of(reads: Sequence[str]) -> str:
    """Say why these cannot be live; empty: they can."""
    if not reads:
        return "Say what to read: ?read=/api/v1/teams, once for each read."
    if len(reads) > MOST_READS:
        return f"A stream carries at most {MOST_READS} reads; open another for the rest."
    for read in reads:
        if len(read) > LONGEST_READ or _template_of(read) not in SECONDS_OF:
            known = ", ".join(SECONDS_OF)
            return f"{read[:80]!r} cannot be live. These can: {known}."
    return ""


def seconds_between(read: str) -> float:
    return SECONDS_OF[_template_of(read)]


def is_of_its_reader(read: str) -> bool:
    """True for what people who see the same teams are answered differently."""
    return _template_of(read) in OF_THEIR_READER


def answered(read: str, user: Any, viewpoint: Viewpoint) -> Answered:
    """Read for a user who was authenticated, and mostly for all others of this viewpoint.

    Raises:
        ViewpointChanged: it is the user's no longer.
    """
    principal = principal_of_user(user)
    if Viewpoint.of(principal) != viewpoint:
        raise ViewpointChanged
    path, _, parameters = read.partition("?")
    request = HttpRequest()
    request.method = "GET"
    request.path = request.path_info = path
    request.GET = QueryDict(parameters)
    request.META = {"SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    request.user = KnownUser(principal)  # type: ignore[assignment]  # not of Django's kind
    view, arguments, named = resolve(path)
    response: Response = view(request, *arguments, **named)
    return Answered(status=response.status_code, body=response.render().content)


def _template_of(read: str) -> str:
    """Return its path, with a placeholder for the id of a job."""
    path = read.partition("?")[0]
    return _OF_A_JOB.sub(r"/api/v1/jobs/{job_id}\1", path)
