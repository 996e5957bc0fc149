"""Who sends a request, as far as that is known before anybody looked into the database?

A credential is recognised by a digest. Whom it belongs to is learned from Django when it was
accepted once; until then, and when it is not, the sender is an address. A job's token proves by
itself whose it is.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import Final

from control_plane.front.asgi_types import Scope, header

CALLER: Final = "concertina.caller"  # in a request's scope: who counts as its sender
PRINCIPAL: Final = "concertina.principal"  # in a request's scope: who it was, from Django
_MOST_KNOWN: Final = 10_000


class Callers:
    """Whom credentials belong to, as far as this process knows; the least used are forgotten."""

    def __init__(
        self,
        *,
        session_cookie: str,
        proxies: int,
        job_opened_by: Callable[[str, str], str | None],
        most: int = _MOST_KNOWN,
    ) -> None:
        self._session_cookie = session_cookie
        self._job_opened_by = job_opened_by
        self._proxies = proxies
        self._most = most
        self._known: OrderedDict[str, str] = OrderedDict()

    def recognise(self, scope: Scope) -> str | None:
        """Whose job's token it is, or who an earlier request with this credential was of."""
        if scope["path"].startswith("/internal/"):
            job = self._job_opened_by(scope["path"], _bearer(scope))
            return f"job:{job}" if job else None
        credential = self._credential(scope)
        if credential is None or credential not in self._known:
            return None
        self._known.move_to_end(credential)
        return self._known[credential]

    def learn(self, scope: Scope, principal: str) -> None:
        """Remember that this request's credential is that of the principal."""
        credential = self._credential(scope)
        if credential is None:
            return
        self._known[credential] = principal
        self._known.move_to_end(credential)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def address(self, scope: Scope) -> str:
        """Where a request comes from; a proxy's word counts where there is one of ours."""
        forwarded = (header(scope, b"x-forwarded-for") or b"").decode("latin-1")
        stations = [one.strip() for one in forwarded.split(",") if one.strip()]
        if self._proxies and stations:
            return stations[-min(self._proxies, len(stations))][:64]
        client = scope.get("client")
        return str(client[0]) if client else "here"

    def _credential(self, scope: Scope) -> str | None:
        told = header(scope, b"authorization") or self._session(scope)
        return hashlib.sha256(told).hexdigest() if told else None

    def _session(self, scope: Scope) -> bytes | None:
        cookies = (header(scope, b"cookie") or b"").decode("latin-1")
        if self._session_cookie not in cookies:
            return None
        try:
            morsel = SimpleCookie(cookies).get(self._session_cookie)
        except CookieError:
            return None
        return morsel.value.encode("latin-1", "replace") if morsel else None


def _bearer(scope: Scope) -> str:
    told = (header(scope, b"authorization") or b"").decode("latin-1")
    scheme, _, token = told.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def caller_of(scope: Scope) -> str:
    """Who counts as the sender, as `rates` has noted it."""
    return str(scope.get(CALLER, "somebody"))
