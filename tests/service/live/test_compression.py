"""Is each event compressed once, readable when it has come, and the whole a file of gzip's?"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncGenerator, Sequence

from control_plane.api.live.compression import PageEvent, gzipped, plain
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.lists(st.binary(max_size=2000))


async def _told(events: Sequence[PageEvent]) -> AsyncGenerator[PageEvent]:
    for event in events:
        yield event


async def _listed(parts: AsyncGenerator[bytes]) -> list[bytes]:
    return [part async for part in parts]


@given(texts=TEXTS)
def test_a_viewer_reads_each_event_as_soon_as_it_has_come(texts: list[bytes]) -> None:
    events = [PageEvent.of(text) for text in texts]
    parts = asyncio.run(_listed(gzipped(_told(events))))
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
    assert [inflate.decompress(part) for part in parts] == [*texts, b""]
    assert inflate.eof
    assert asyncio.run(_listed(plain(_told(events)))) == texts


@given(texts=TEXTS, chosen=st.data())
def test_the_blocks_of_an_event_fit_into_any_stream(
    texts: list[bytes], chosen: st.DataObject
) -> None:
    events = [PageEvent.of(text) for text in texts]
    some = chosen.draw(st.lists(st.sampled_from(events))) if events else []
    whole = b"".join(asyncio.run(_listed(gzipped(_told(some)))))
    assert gzip.decompress(whole) == b"".join(event.plain for event in some)


def test_whoever_leaves_early_ends_what_made_the_events() -> None:
    ended = []

    async def endless() -> AsyncGenerator[PageEvent]:
        try:
            while True:
                yield PageEvent.of(b"data: {}\n\n")
        finally:
            ended.append(True)

    async def leave() -> None:
        for form in (plain, gzipped):
            viewer = form(endless())
            await anext(viewer)
            await viewer.aclose()

    asyncio.run(leave())
    assert ended == [True, True]
