"""How do those who ask for something reach the service? By what the client gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.retrying import RemainingRetries
    from concertina.connection.transport import Transport


class Send(Protocol):
    """Sends a request, and tries again for a while if the service is away."""

    def __call__(self, method: str, path: str, **more: Any) -> tuple[int, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiConnection:
    """What those need of a client who download something as well."""

    transport: Transport
    send: Send
    patience: Callable[[], RemainingRetries]
