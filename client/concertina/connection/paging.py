"""How is a long list read? Page by page, as its entries are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.connection.connection import Send


def every(
    send: Send, path: str, *, limit: int = 1000, cursor: str = "cursor", **parameters: Any
) -> Iterator[Any]:
    """Yield all entries. `cursor` is how the service calls the place where a page begins."""
    place: str | None = None
    while True:
        params = {**parameters, "limit": limit, cursor: place}
        page = send("GET", path, params=params)[1]
        yield from page["items"]
        place = page[f"next_{cursor}"]
        if not place:
            return
