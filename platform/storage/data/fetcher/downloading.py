"""How do objects become files? In pieces, several at a time, and each file is checked when whole.

What was there before a kill is not fetched again, and neither is what another version of the source
has already: that becomes one more name of the same file. The folder appears when all is there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autoscaler.backoff import Backoff
from storage.data.fetcher import checksums
from storage.data.fetcher.orders import FetchProgress, SourceAway, UnusableSource
from storage.data.fetcher.pieces import PIECE_BYTES, Journal
from storage.data.fetcher.stores.port import ObjectStore
from storage.data.listings import ObjectListing, StoredObject

_AT_ONCE: Final = 12  # requests; guessed: fills a line of 10 GBit/s with what one of S3 gives
_TRIES: Final = 4  # of a piece, and of a file whose digest is wrong
_FILE: Final = 0o444
_FOLDER: Final = 0o555


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingDownload:
    """One listing on its way into a folder."""

    store: ObjectStore
    listing: ObjectListing
    part: Path  # what is under way: nobody else writes there
    folder: Path  # where it is at the end
    progress: FetchProgress
    known: Mapping[tuple[str, str, int], Path]  # files of other versions, see `key_of`
    between_tries: Backoff

    async def run(self) -> None:
        """Fetch what is missing.

        Raises:
            SourceAway: the store does not answer; what came stays, for the next time.
            ObjectChanged: an object is another than was listed.
            UnusableSource: the store does not send what it says.
        """
        tree = self.part / "tree"
        tree.mkdir(parents=True, exist_ok=True)
        journal = Journal(self.part)
        try:
            await self._fetch_all(tree, journal)
        finally:
            journal.close()
        await asyncio.to_thread(self._put_into_place, tree)

    async def _fetch_all(self, tree: Path, journal: Journal) -> None:
        waiting = iter(enumerate(self.listing.objects))
        running: set[asyncio.Task[None]] = set()
        room = asyncio.Semaphore(_AT_ONCE)
        try:
            for number, one in waiting:
                if self._is_there(tree / one.name, number, one, journal):
                    self.progress.add(one.size)
                    continue
                if len(running) >= 2 * _AT_ONCE:
                    running = await self._after_some(running)
                running.add(
                    asyncio.create_task(self._fetch(tree / one.name, number, one, journal, room))
                )
            while running:
                running = await self._after_some(running)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _after_some(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        done, left = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        running.intersection_update(left)  # whoever cancels what is left finds it there
        for task in done:
            task.result()
        return left

    def _is_there(self, path: Path, number: int, one: StoredObject, journal: Journal) -> bool:
        if number in journal.whole and path.is_file() and path.stat().st_size == one.size:
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        same = self.known.get(key_of(one))
        if same is None or not same.is_file() or same.stat().st_size != one.size:
            return False
        path.unlink(missing_ok=True)
        os.link(same, path)
        journal.add_whole(number)
        return True

    async def _fetch(
        self,
        path: Path,
        number: int,
        one: StoredObject,
        journal: Journal,
        room: asyncio.Semaphore,
    ) -> None:
        part_size = await self._part_bytes(one, room)
        for _ in range(_TRIES):
            await self._fetch_pieces(path, number, one, journal, room)
            if await asyncio.to_thread(_is_good, path, one, part_size):
                journal.add_whole(number)
                return
            journal.forget(number)
            self.progress.add(-one.size)
        raise UnusableSource(
            f"What the store sends of {one.name!r} is not what it says: its digest is another. Look"
            " at the object, and at what lies between the store and here."
        )

    async def _part_bytes(self, one: StoredObject, room: asyncio.Semaphore) -> int | None:
        async with room:
            for attempt in range(1, _TRIES + 1):
                try:
                    return await checksums.part_bytes(one, self.store)
                except SourceAway:
                    if attempt == _TRIES:
                        raise
                    await asyncio.sleep(self.between_tries.seconds_after(attempt))
        raise AssertionError

    async def _fetch_pieces(
        self,
        path: Path,
        number: int,
        one: StoredObject,
        journal: Journal,
        room: asyncio.Semaphore,
    ) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        known = journal.pieces.get(number, frozenset[int]())
        count = -(-one.size // PIECE_BYTES)
        pieces = iter(range(count))

        async def fetch_in_turn() -> None:
            for piece in pieces:
                start, end = piece * PIECE_BYTES, min((piece + 1) * PIECE_BYTES, one.size)
                if piece in known:
                    self.progress.add(end - start)
                    continue
                async with room:
                    await self._piece(descriptor, one, start, end)
                journal.add_piece(number, piece)

        try:
            async with asyncio.TaskGroup() as group:  # whoever is done takes the next piece
                for _ in range(min(_AT_ONCE, count)):
                    group.create_task(fetch_in_turn())
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None
        finally:
            os.close(descriptor)

    async def _piece(self, descriptor: int, one: StoredObject, start: int, end: int) -> None:
        for attempt in range(1, _TRIES + 1):
            came = 0
            try:
                async with aclosing(_bounded(self.store, one, start, end)) as chunks:
                    async for chunk in chunks:
                        os.pwrite(descriptor, chunk, start + came)
                        came += len(chunk)
                        self.progress.add(len(chunk))
            except SourceAway:
                if attempt == _TRIES:
                    raise
            else:
                if came == end - start:
                    return
            self.progress.add(-came)
            await asyncio.sleep(self.between_tries.seconds_after(attempt))
        raise UnusableSource(
            f"The store says that {one.name!r} has {one.size} bytes, and sends fewer. Look at the"
            " object."
        )

    def _put_into_place(self, tree: Path) -> None:
        """Close it to changes; only who may write to a folder can give it another parent."""
        for folder, _, files in os.walk(tree, topdown=False):
            for name in files:
                Path(folder, name).chmod(_FILE)
            if Path(folder) != tree:
                Path(folder).chmod(_FOLDER)
        tree.rename(self.folder)
        self.folder.chmod(_FOLDER)
        shutil.rmtree(self.part, ignore_errors=True)


def key_of(one: StoredObject) -> tuple[str, str, int]:
    """Return what two versions of a source have in common if the object is the same in both."""
    return one.address, one.version, one.size


def files_of(versions: Sequence[tuple[Path, Path]]) -> dict[tuple[str, str, int], Path]:
    """Return the files of these listings, which lie in the folder beside each."""
    return {
        key_of(one): folder / one.name
        for listing, folder in versions
        if listing.is_file() and folder.is_dir()
        for one in ObjectListing.read(listing).objects
    }


async def _bounded(
    store: ObjectStore, one: StoredObject, start: int, end: int
) -> AsyncGenerator[bytes]:
    """What the store sends, and no more than was asked for."""
    left = end - start
    async with aclosing(store.read(one, start, end)) as chunks:
        async for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return


def _is_good(path: Path, one: StoredObject, part_size: int | None) -> bool:
    """Bring it to the disk first: its journal outlasts the machine's memory."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return checksums.is_as_stored(path, one, part_size)
