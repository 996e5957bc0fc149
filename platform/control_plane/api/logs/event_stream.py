"""How is a stream of events answered? It holds a slot until nobody reads it any more."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator
from typing import Final

from django.http import StreamingHttpResponse

from control_plane.api.logs.shared_slots import StreamSlot
from control_plane.api.logs.stream_slots import StreamSlots

stream_slots: Final = StreamSlots()


class EventStream(StreamingHttpResponse):
    """An answer that holds a stream slot until it is closed, or nobody refers to it any more."""

    def __init__(
        self, events: AsyncIterator[bytes], slot: StreamSlot, *, encoding: str = ""
    ) -> None:
        """`encoding`: in which the events are compressed already; empty: they are not."""
        super().__init__(
            events,
            content_type="text/event-stream",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )
        if encoding:
            self["Content-Encoding"] = encoding
        self._leave = weakref.finalize(self, stream_slots.leave, slot)

    def close(self) -> None:
        self._leave()
        super().close()
