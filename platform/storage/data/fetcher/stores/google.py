"""How is Google Cloud Storage read? Through the connection and the credentials of `gcsfs`."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from aiohttp import ClientTimeout, StreamReader

from storage.data.fetcher.orders import ObjectChanged, SourceAway, UnusableSource
from storage.data.fetcher.stores.answers import md5_of_base64, telling
from storage.data.fetcher.stores.below import below
from storage.data.fetcher.stores.port import CHUNK_BYTES, CONNECT_SECONDS, SILENCE_SECONDS
from storage.data.listings import StoredObject

# Else it would ask for a bucket's layout through gRPC, whose connections no audit hook sees.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"

from gcsfs.core import GCSFileSystem
from gcsfs.retry import HttpError

PAGE: Final = 1000  # objects of one answer, at most
_LARGEST_PAGE: Final = 32 << 20  # bytes; ten times what 1000 of the longest names take
_NO_KEY: Final = (
    "GOOGLE_SERVICE_ACCOUNT in the secret is not the JSON key of a service account. Download one,"
    " and set it as a whole."
)
_FIELDS: Final = "items(name,size,generation,md5Hash),nextPageToken"


class GoogleStore:
    """Objects below a prefix of a bucket. A version is a generation, which never changes."""

    def __init__(self, url: str, endpoint: str, credential: Mapping[str, str]) -> None:
        text = credential.get("GOOGLE_SERVICE_ACCOUNT")
        token = _service_account(text) if text else "anon"
        try:
            self._fs = GCSFileSystem(
                token=token,
                endpoint_url=endpoint.rstrip("/") or None,
                requests_timeout=ClientTimeout(
                    total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS
                ),
                session_kwargs={"auto_decompress": False},
                asynchronous=True,
                skip_instance_cache=True,
            )
        except (KeyError, ValueError) as problem:  # something of the key is missing, or cut off
            raise UnusableSource(_NO_KEY) from problem
        self._bucket, _, self._prefix = url.removeprefix("gs://").partition("/")

    async def objects(self) -> AsyncIterator[StoredObject]:
        async with telling(f"bucket {self._bucket}"):
            async for one in below(self._prefix, self._listed):
                yield one

    async def _listed(self, prefix: str) -> AsyncIterator[StoredObject]:
        params = {"prefix": prefix, "fields": _FIELDS, "maxResults": str(PAGE)}
        url = f"{self._fs.base}b/{quote(self._bucket, safe='')}/o"
        while True:
            session = await self._fs._set_session()  # noqa: SLF001 - the public name is for other threads
            headers = self._headers({"Accept-Encoding": "identity"})
            async with session.get(url, params=params, headers=headers) as answer:
                answer.raise_for_status()
                page = json.loads(await _whole(answer.content))
            for row in page.get("items", ()):
                if int(row["size"]) or not row["name"].endswith("/"):  # else the mark of a folder
                    yield _object(row)
            if not page.get("nextPageToken"):
                return
            params["pageToken"] = page["nextPageToken"]

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        """Read it as it is stored: without `gzip` among the codings, it would come unpacked."""
        async with telling(repr(one.name)):
            session = await self._fs._set_session()  # noqa: SLF001 - as above
            url = f"{self._fs.base}b/{quote(self._bucket, safe='')}/o/{quote(one.address, safe='')}"
            params = {"alt": "media", "generation": one.version}
            ranged = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "gzip"}
            headers = self._headers(ranged)
            async with session.get(url, params=params, headers=headers) as answer:
                answer.raise_for_status()
                if answer.headers.get("x-goog-generation", one.version) != one.version:
                    raise ObjectChanged(f"{one.name!r} is another now.")
                async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
                    yield chunk

    def _headers(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Add what proves who asks, for which Google may have to be asked first."""
        try:
            found: Mapping[str, str] = self._fs._get_headers(more)  # noqa: SLF001 - as above
        except HttpError as problem:
            if getattr(problem.__cause__, "retryable", False):
                raise SourceAway("Google signs nobody in at the moment.") from problem
            said = " ".join(str(problem.__cause__ or problem).split())[:300]
            raise UnusableSource(
                f"Google takes the key in GOOGLE_SERVICE_ACCOUNT for no good: {said}. Download"
                " another, and set it as a whole."
            ) from problem
        return found

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - versions are no digests
        return None

    async def aclose(self) -> None:
        await (await self._fs._set_session()).close()  # noqa: SLF001 - as above


async def _whole(content: StreamReader) -> bytes:
    """Read a page of a listing. Raises: UnusableSource, if it has no end."""
    found = bytearray()
    async for chunk in content.iter_chunked(CHUNK_BYTES):
        found += chunk
        if len(found) > _LARGEST_PAGE:
            raise UnusableSource("The store sends more than a page of a listing may have.")
    return bytes(found)


def _object(row: Mapping[str, Any]) -> StoredObject:
    return StoredObject(
        name=row["name"],
        address=row["name"],
        size=int(row["size"]),
        version=str(row["generation"]),
        md5=md5_of_base64(row.get("md5Hash", "")),
    )


def _service_account(text: str) -> dict[str, Any]:
    """Take a key alone: other words would have Google's library look for one on this machine."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("type") != "service_account":
        raise UnusableSource(_NO_KEY)
    return found
