"""Does a proxy of ours say who sends a request? Its headers are noted, and anybody's are removed.

What counts is the connection's own address, not what `X-Forwarded-For` says. The headers reach
nobody behind this, whoever sent them: what is believed stands in the request's scope.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from tenancy.single_sign_on.terms import ProxyTerms

from control_plane.front.asgi_types import Application, Receive, Scope, Send

VOUCHED: Final = "concertina.vouched"  # in a request's scope: headers that a proxy of ours set
_MOST_BYTES: Final = 32 * 1024  # of one


class VouchedHeaders:
    """ASGI middleware, before anybody reads headers."""

    def __init__(self, application: Application, *, terms: ProxyTerms | None) -> None:
        self._application = application
        self._terms = terms
        self._names = frozenset(terms.headers if terms else ())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._terms is not None and scope["type"] == "http":
            scope = self._noted(scope, self._terms)
        await self._application(scope, receive, send)

    def _noted(self, scope: Scope, terms: ProxyTerms) -> Scope:
        kept: list[tuple[bytes, bytes]] = []
        named: list[tuple[str, bytes]] = []
        for name, value in scope["headers"]:
            exact = name.decode("latin-1").lower()
            # Some servers and frameworks take `_` for `-`.
            if exact.replace("_", "-") in self._names:
                named.append((exact, value))
            else:
                kept.append((name, value))
        noted = {**scope, "headers": kept}
        if _is_from(scope, terms):
            noted[VOUCHED] = self._believed(named)
        return noted

    def _believed(self, named: list[tuple[str, bytes]]) -> dict[str, str]:
        """Return the headers as the proxy set them; none, if somebody else may have had a hand in.

        Proxies replace what clients send under a header's very name, and pass on the same with `_`.
        Names that are no text would be one and the same person once they are made to be.
        """
        found = dict(named)
        if len(found) < len(named) or not found.keys() <= self._names:
            return {}
        if any(len(value) > _MOST_BYTES for value in found.values()):
            return {}
        try:
            return {name: value.decode() for name, value in found.items()}
        except UnicodeDecodeError:
            return {}


def _is_from(scope: Scope, terms: ProxyTerms) -> bool:
    client = scope.get("client")
    try:
        address = ipaddress.ip_address(str(client[0])) if client else None
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address is not None and any(address in network for network in terms.networks)
