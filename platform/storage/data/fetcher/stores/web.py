"""How is a web server read? Through the session of fsspec's own file system."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from aiohttp import ClientTimeout
from fsspec.implementations.http import HTTPFileSystem

from storage.data.fetcher.orders import ObjectChanged, UnusableSource
from storage.data.fetcher.stores.answers import md5_of_base64, telling
from storage.data.fetcher.stores.port import CHUNK_BYTES, CONNECT_SECONDS, SILENCE_SECONDS
from storage.data.listings import MOST_OBJECTS, StoredObject

_PARTIAL: Final = 206
_AT_ONCE: Final = 12  # requests that ask how large an object is


class WebStore:
    """One file, or those of a page that lists them. A version is an `ETag`, or a time."""

    def __init__(self, url: str, credential: Mapping[str, str]) -> None:
        token = credential.get("HTTP_BEARER_TOKEN")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
        self._fs = HTTPFileSystem(
            asynchronous=True,
            skip_instance_cache=True,
            headers=self._headers,
            client_kwargs={"timeout": timeout, "auto_decompress": False},
        )
        self._url = url

    async def objects(self) -> AsyncIterator[StoredObject]:
        async with telling(self._url):
            urls = [self._url]
            if self._url.endswith("/"):
                found = await self._fs._find(self._url, maxdepth=20)  # noqa: SLF001 - the public name is for other threads
                urls = [url for url in found if url.startswith(self._url) and _is_plain(url)]
            for first in range(0, min(len(urls), MOST_OBJECTS + 1), _AT_ONCE):
                for one in await asyncio.gather(
                    *(self._object(url) for url in urls[first : first + _AT_ONCE])
                ):
                    yield one

    async def _object(self, url: str) -> StoredObject:
        session = await self._fs.set_session()
        headers = {"Accept-Encoding": "identity", **self._headers}
        async with session.head(url, headers=headers, allow_redirects=True) as answer:
            answer.raise_for_status()
            self._check_is_encrypted(answer.url.scheme)
            length = answer.headers.get("Content-Length", "")
            if not length.isascii() or not length.isdigit():
                raise UnusableSource(f"The store tells no size of {url}.")
            version = answer.headers.get("ETag") or answer.headers.get("Last-Modified", "")
            return StoredObject(
                name=self._name(url),
                address=url,
                size=int(length),
                version=version,
                md5=md5_of_base64(answer.headers.get("Content-MD5", "")),
            )

    def _check_is_encrypted(self, scheme: str) -> None:
        if scheme != "https" and self._url.startswith("https:"):
            raise UnusableSource(
                "The store leads from https to http, where anybody may change what comes."
            )

    def _name(self, url: str) -> str:
        if self._url.endswith("/"):
            return unquote(url.removeprefix(self._url))
        return unquote(urlsplit(url).path.rpartition("/")[2]) or "file"

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        headers = {
            "Range": f"bytes={start}-{end - 1}",
            "Accept-Encoding": "identity",
            **self._headers,
        }
        if one.version.startswith('"'):
            headers["If-Match"] = one.version
        async with telling(repr(one.name)):
            session = await self._fs.set_session()
            async with session.get(one.address, headers=headers) as answer:
                answer.raise_for_status()
                self._check_is_encrypted(answer.url.scheme)
                tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified", "")
                if tag != one.version:
                    raise ObjectChanged(f"{one.name!r} is another now.")
                skipped = 0 if answer.status == _PARTIAL else start  # it sends all of it
                async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
                    yield chunk[skipped:]
                    skipped = max(skipped - len(chunk), 0)

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - versions are no digests
        return None

    async def aclose(self) -> None:
        await (await self._fs.set_session()).close()


def _is_plain(url: str) -> bool:
    return "?" not in url and "#" not in url
