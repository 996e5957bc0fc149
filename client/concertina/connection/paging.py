"""How is a long list read? Page by page, as its entries are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from concertina.connection.connection import Send

_PLACES: Final = ("cursor", "after", "before")  # as the service calls where a page begins


def following(page: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parameter that asks for the next page; None: this is the last one."""
    if "next" in page:  # of events, of which there will be more
        return {"after": str(page["next"])} if page["has_more"] else None
    for name in _PLACES:
        if place := page.get(f"next_{name}"):
            return {name: place}
    return None


def every(
    send: Send, path: str, *, limit: int = 1000, cursor: str = "cursor", **parameters: Any
) -> Iterator[Any]:
    """Yield all entries. `cursor` is how the service calls the place where a page begins."""
    params = {**parameters, "limit": limit, cursor: None}
    while True:
        page = send("GET", path, params=params)[1]
        yield from page["items"]
        place = following(page)
        if place is None:
            return
        params |= place
