"""What can be asked of the installation: its teams, pools and nodes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from urllib.parse import quote

from concertina.connection import paging

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.documents import NodeService, Pool, Team

_PAGE: Final = 100


class _AsksOfAll(Protocol):
    @property
    def _send(self) -> Send: ...

    @property
    def _items(self) -> Callable[..., list[Any]]: ...


class InstallationQuestions:
    """What a client has for the installation."""

    def teams(self: _AsksOfAll, *, pool: str | None = None) -> list[Team]:
        return self._items("/teams", pool=pool)

    def notices(self: _AsksOfAll) -> list[str]:
        """Return what whoever uses this installation should know, in sentences; mostly nothing."""
        return self._items("/notices")

    def pools(self: _AsksOfAll) -> list[Pool]:
        return self._items("/pools")

    def nodes(self: _AsksOfAll, *, pool: str | None = None) -> list[NodeService]:
        """All nodes, by name, with how many of their GPUs are in use."""
        return list(paging.every(self._send, "/nodes", limit=_PAGE, cursor="after", pool=pool))

    def maintain(self: _AsksOfAll, node: str, what: str) -> NodeService:
        """`cordon`, `drain` or `uncordon` a node. Raises: NotAllowed (not an admin)."""
        return cast("NodeService", self._send("POST", f"/nodes/{quote(node, safe='')}/{what}")[1])
