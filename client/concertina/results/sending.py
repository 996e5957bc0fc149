"""How do those who ask for results send a request?"""

from __future__ import annotations

from typing import Any, Protocol


class Send(Protocol):
    """Sends a request, and tries again for a while if the service is away."""

    def __call__(self, method: str, path: str, **more: Any) -> tuple[int, Any]: ...
