"""What stands before Django here, with which bounds?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings

from control_plane.front.asgi_types import Application
from control_plane.front.bodies import BoundedBodies
from control_plane.front.bulkheads import Bulkheads, sizes
from control_plane.front.only_http import OnlyHttp
from control_plane.limit_settings import LARGEST_BODY
from jobs.api import sync

_SPECS: Final = frozenset({"/api/v1/jobs", "/api/v1/jobs:validate"})


def in_front_of(django: Application) -> Application:
    """The application that a server is given."""
    limits = settings.CONCERTINA.limits
    bounded = BoundedBodies(
        Bulkheads(django, sizes(limits.api_threads)),
        largest_at=largest_bodies(spec_bytes=limits.largest_spec_bytes),
    )
    return OnlyHttp(bounded)


def largest_bodies(*, spec_bytes: int) -> Callable[[str], int]:
    """How many bytes a request to a path may have in its body."""

    def largest_at(path: str) -> int:
        if path.startswith("/internal/"):
            return sync.LARGEST_BODY
        return spec_bytes if path in _SPECS else LARGEST_BODY

    return largest_at
