"""What does a request ask for, and does that change anything?

Operations are called as OpenAPI calls them, pages of the administration as Django does. Whatever is
not sent to be read counts as a change, so nothing new is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.http import HttpRequest

from control_plane.api.operation_check import named_views

READING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
READS: Final = frozenset(
    {
        *("validate_job", "preview_setup", "poll_device_login", "look_up_device_login"),
        "look_up_invitation",
        "write_to_shell",  # whose beginning and end are told
    }
)
"""Operations that change nothing, though they are sent with a body."""
ON_THEIR_OWN: Final = frozenset(
    {"log_in", "admin:login", "upload_code", "upload_data", "request_simulation", "invite_member"}
)
"""Operations that take long for other reasons than the database: no transaction waits for them."""
IN_PIECES: Final = frozenset({"upload_code", "upload_data"})
"""Operations of which many make one: they are counted together."""
_ADMINISTRATION: Final = "admin"
_API: Final = "/api/v1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOperation:
    """What a request asks for."""

    name: str
    target: str
    changes: bool
    is_page: bool = False  # of the administration

    @property
    def is_together(self) -> bool:
        """True if what it changes and its entry are one transaction."""
        return self.changes and self.name not in ON_THEIR_OWN


def asked_by(request: HttpRequest) -> AskedOperation | None:
    """Return what a request asks for; None: nothing that is told of."""
    match = request.resolver_match
    if match is None:
        return None
    is_read = request.method in READING_METHODS
    if match.app_names[:1] == [_ADMINISTRATION]:
        name = f"{_ADMINISTRATION}:{match.url_name}"
        target = request.path.strip("/")
        return AskedOperation(name=name, target=target, changes=not is_read, is_page=True)
    found = name_of(match.func, request.method or "")
    if found is None:
        return None
    target = request.path.removeprefix(_API)
    return AskedOperation(name=found, target=target, changes=not is_read and found not in READS)


def name_of(view: Callable[..., Any], method: str) -> str | None:
    """Return the operation of a view, if it is one of the API."""
    return of_class(getattr(view, "cls", None), method)


def of_class(view: type[Any] | None, method: str) -> str | None:
    """Return the same of a view's class."""
    asked = "GET" if method == "HEAD" else method
    return _names().get((view, asked))


@cache
def _names() -> Mapping[tuple[Any, str], str]:
    return {(view, method): name for view, method, name in named_views()}
