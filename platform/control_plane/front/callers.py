"""Who sends a request, as far as is known before anybody has asked the database?

A credential is recognised by a digest of what Django will read: the key of a `Bearer` header if
there is one, else the session. Its owner is learned from Django once it has been accepted; until
then, and if it is not accepted, the sender is an address. A job's token proves by itself which job
it belongs to.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.http import parse_cookie
from tenancy.access.addresses import network_of
from tenancy.access.keys.bearer import bearer_key

from control_plane.front.asgi_types import Scope, header

CALLER: Final = "concertina.caller"  # in a request's scope: who counts as its sender
ADDRESS: Final = "concertina.address"  # in a request's scope: where it comes from
GROUP: Final = "concertina.group"  # in a request's scope: with whom the sender shares
BUCKET: Final = "concertina.bucket"  # in a request's scope: from which it took tokens, if any
CONNECTION: Final = "concertina.connection"  # in a request's scope: by which it came
PRINCIPAL: Final = "concertina.principal"  # in a request's scope: a Sender, from Django
_MOST_KNOWN: Final = 10_000
_ADDRESS_PREFIX: Final = "address:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends requests, and the group that shares threads and memory; empty: on their own."""

    name: str
    group: str = ""


class Callers:
    """The owners of credentials, as far as this process knows; the least used are forgotten."""

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
        self._known: OrderedDict[str, Sender] = OrderedDict()

    def recognise(self, scope: Scope) -> Sender | None:
        """Return the job of the token, or the sender of an earlier request with this credential."""
        if scope["path"].startswith("/internal/"):
            token = bearer_key(_header(scope, b"authorization", ",")) or ""
            job = self._job_opened_by(scope["path"], token)
            if job is None:
                return None
            sender = Sender(name=name_of_job(job))
            if (connection := scope.get(CONNECTION)) is not None:
                connection.belongs_to(sender.name)
            return sender
        credential = self._credential(scope)
        if credential is None or credential not in self._known:
            return None
        self._known.move_to_end(credential)
        return self._known[credential]

    def learn(self, scope: Scope, principal: Sender) -> None:
        """Remember that this request's credential is that of the principal."""
        credential = self._credential(scope)
        if credential is None:
            return
        self._known[credential] = principal
        self._known.move_to_end(credential)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def address(self, scope: Scope) -> str:
        """Return the request's address, of IPv6 its network, as our own proxy says if any."""
        forwarded = (header(scope, b"x-forwarded-for") or b"").decode("latin-1")
        stations = [one.strip() for one in forwarded.split(",") if one.strip()]
        if self._proxies and stations:
            return network_of(stations[-min(self._proxies, len(stations))][:64])
        client = scope.get("client")
        return network_of(str(client[0])) if client else "here"

    def _credential(self, scope: Scope) -> str | None:
        """Return a digest; on the admin site only sessions count, whatever a header says."""
        key = None
        if scope["path"].startswith("/api/"):
            key = bearer_key(_header(scope, b"authorization", ","))
        credential = f"session:{self._session(scope)}" if key is None else f"key:{key}"
        return None if credential == "session:" else hashlib.sha256(credential.encode()).hexdigest()

    def _session(self, scope: Scope) -> str:
        return parse_cookie(_header(scope, b"cookie", "; ")).get(self._session_cookie, "")


def _header(scope: Scope, name: bytes, separator: str) -> str:
    """Return all values of a header, joined as Django joins them."""
    values = (value.decode("latin-1") for key, value in scope["headers"] if key == name)
    return separator.join(values)


def caller_of(scope: Scope) -> str:
    """Return who counts as the sender, as `rates` has noted."""
    return str(scope.get(CALLER, "somebody"))


def group_of(scope: Scope) -> str:
    """Return the group with which the sender shares, as `rates` has noted."""
    return str(scope.get(GROUP) or caller_of(scope))


def name_of_address(address: str) -> str:
    """Return the name under which unknown senders of an address count."""
    return f"{_ADDRESS_PREFIX}{address}"


def name_of_job(job_id: str) -> str:
    """Return the name under which the coordinator of a job counts, by its token."""
    return f"job:{job_id}"


def is_address(name: str) -> bool:
    """True if the sender is counted by address."""
    return name.startswith(_ADDRESS_PREFIX)


def address_of(scope: Scope) -> str:
    """Return the address it comes from, as `rates` has noted."""
    return str(scope.get(ADDRESS, "somewhere"))
