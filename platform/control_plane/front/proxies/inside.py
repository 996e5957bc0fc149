"""Does a request for `/internal/` come from inside? Only coordinators ask there.

They reach `api` without a proxy, which marks whatever it passes on: a request with such a mark is
from outside, whatever the proxy's own rules say. Coordinators of other nodes may come through it,
from networks that an administrator names.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from control_plane.configuration.limit_settings import Network
from control_plane.front.asgi_types import Application, Receive, Scope, Send
from control_plane.front.refusal import Refusal

_MARKS: Final = (b"forwarded", b"via", b"x-real-ip")
_PREFIX_OF_MARKS: Final = b"x-forwarded-"


class OnlyFromInside:
    """ASGI middleware: requests through a proxy from elsewhere find nothing here."""

    def __init__(
        self,
        application: Application,
        *,
        address_of: Callable[[Scope], str],
        is_proxy_believed: bool,
        networks: Sequence[Network],
    ) -> None:
        self._application = application
        self._address_of = address_of
        self._networks = networks if is_proxy_believed else ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_out_of_bounds(scope):
            message = f"Nothing is at {scope['path'][:200]}. See /api/v1/docs."
            await Refusal(status=404, code="not_found", message=message).answer(send)
            return
        await self._application(scope, receive, send)

    def _is_out_of_bounds(self, scope: Scope) -> bool:
        if not scope["path"].startswith("/internal/") or not _is_proxied(scope):
            return False
        with suppress(ValueError):
            network = ipaddress.ip_network(self._address_of(scope))
            return not any(
                network.version == known.version and network.subnet_of(known)  # type: ignore[arg-type] # of the same version
                for known in self._networks
            )
        return True


def _is_proxied(scope: Scope) -> bool:
    return any(name in _MARKS or name.startswith(_PREFIX_OF_MARKS) for name, _ in scope["headers"])
