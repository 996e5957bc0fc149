"""What is there in a store, and what are the bytes of it? One port over fsspec's file systems.

S3 and HTTP are read through the connection that fsspec's own file systems hold, so that a request
can say which version it means and what comes need not fit into memory. All others are read by
fsspec's common calls.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from storage.data.fetcher.orders import ObjectChanged, SourceAway, UnusableSource
from storage.data.listings import MOST_OBJECTS, StoredObject

CHUNK_BYTES: Final = 1 << 20
_CONNECT_SECONDS: Final = 15.0
_SILENCE_SECONDS: Final = 60.0  # guessed: of a store that is asked; then it is asked again
_VERSIONS: Final = ("generation", "ETag", "etag", "Last-Modified", "last_modified", "mtime")
_MD5: Final = re.compile(r"[0-9a-f]{32}")
_GONE: Final = 404
_ELSE: Final = 412  # it is not the version that was asked for
_TOO_MANY: Final = 429
_PARTIAL: Final = 206
_AT_ONCE: Final = 12  # requests that ask how large an object is


class ObjectStore(Protocol):
    """The port."""

    def objects(self) -> AsyncIterator[StoredObject]:
        """Yield what there is at its URL, `MOST_OBJECTS` and one more at most."""

    def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        """Yield these bytes of an object; fewer or more if the store sends so."""

    async def parts(self, one: StoredObject) -> int | None:
        """Return the bytes of each part of which its version is the digest; None: it is none."""


def open_store(url: str, *, endpoint: str, credential: Mapping[str, str]) -> ObjectStore:
    """Return the store at a URL. Call it, and all that it offers, in one running event loop.

    Raises:
        UnusableSource: what reads such a store is not installed, or its credential is no good.
    """
    scheme = urlsplit(url).scheme
    if scheme == "s3":
        return _S3(url, endpoint, credential)
    if scheme in {"http", "https"}:
        return _Http(url, credential)
    return _Other(url, credential)


@asynccontextmanager
async def telling(what: str) -> AsyncIterator[None]:
    """Say in words what a store answers that does not do what it is asked.

    Raises:
        SourceAway: it may do so later.
        ObjectChanged: another version is there, or none.
        UnusableSource: it never will.
    """
    try:
        yield
    except (SourceAway, ObjectChanged, UnusableSource):
        raise
    except FileNotFoundError as problem:
        raise ObjectChanged(f"{what} is not there any more.") from problem
    except PermissionError as problem:
        raise UnusableSource(
            f"The store does not let us read {what}: {_short(problem)}. Check the secret."
        ) from problem
    except (MemoryError, AssertionError):
        raise
    except Exception as problem:
        code = _code(problem)
        if code in {_GONE, _ELSE}:
            raise ObjectChanged(f"{what} is another now, or gone.") from problem
        if code is not None and 400 <= code < 500 and code != _TOO_MANY:  # noqa: PLR2004
            raise UnusableSource(f"The store refuses {what}: {_short(problem)}.") from problem
        raise SourceAway(
            f"The store does not answer well for {what}: {_short(problem)}"
        ) from problem


class _S3:
    def __init__(self, url: str, endpoint: str, credential: Mapping[str, str]) -> None:
        from s3fs import S3FileSystem  # noqa: PLC0415 - it takes half a second, and other stores need none of it

        key = credential.get("AWS_ACCESS_KEY_ID")
        region = credential.get("AWS_REGION") or credential.get("AWS_DEFAULT_REGION")
        self._fs = S3FileSystem(
            anon=key is None,
            key=key,
            secret=credential.get("AWS_SECRET_ACCESS_KEY"),
            token=credential.get("AWS_SESSION_TOKEN"),
            endpoint_url=endpoint or None,
            client_kwargs={"region_name": region} if region else {},
            config_kwargs={
                "connect_timeout": _CONNECT_SECONDS,
                "read_timeout": _SILENCE_SECONDS,
                "retries": {"max_attempts": 1},
                "max_pool_connections": 32,
            },
            asynchronous=True,
            skip_instance_cache=True,
        )
        self._fs.retries = 1  # whoever asks us tries again
        self._bucket, _, self._prefix = url.removeprefix("s3://").partition("/")

    async def objects(self) -> AsyncIterator[StoredObject]:
        found = 0
        folder = f"{self._prefix.rstrip('/')}/" if self._prefix.strip("/") else ""
        async with telling(f"bucket {self._bucket}"):
            async for one in self._listed(folder, MOST_OBJECTS + 1):
                found += 1
                yield one
            if not found and folder:
                async for one in self._listed(self._prefix, 1):
                    yield one

    async def _listed(self, prefix: str, most: int) -> AsyncIterator[StoredObject]:
        """Those below a folder, or the one of exactly this name."""
        name_at = len(prefix) if prefix.endswith("/") or not prefix else prefix.rfind("/") + 1
        count = 0
        more: dict[str, str] = {}
        while count < most:
            page = await self._fs._call_s3(  # noqa: SLF001 - the public name is for other threads
                "list_objects_v2", Bucket=self._bucket, Prefix=prefix, **more
            )
            for row in page.get("Contents", ()):
                key, size = row["Key"], int(row["Size"])
                if (key.endswith("/") and not size) or (name_at != len(prefix) and key != prefix):
                    continue  # the mark of a folder, or something that begins alike
                tag = row["ETag"].strip('"')
                count += 1
                yield StoredObject(
                    name=key[name_at:],
                    address=key,
                    size=size,
                    version=tag,
                    md5=tag if _MD5.fullmatch(tag) else "",
                )
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        async with telling(repr(one.name)):
            answer = await self._fs._call_s3(  # noqa: SLF001 - as above
                "get_object",
                Bucket=self._bucket,
                Key=one.address,
                Range=f"bytes={start}-{end - 1}",
                IfMatch=f'"{one.version}"',
            )
            body = answer["Body"]
            try:
                while chunk := await body.read(CHUNK_BYTES):
                    yield chunk
            finally:
                body.close()

    async def parts(self, one: StoredObject) -> int | None:
        """Ask for the first of them. What a key of the store's customer encrypts has no digest."""
        async with telling(repr(one.name)):
            head = await self._fs._call_s3(  # noqa: SLF001 - as above
                "head_object", Bucket=self._bucket, Key=one.address, PartNumber=1
            )
        if "kms" in head.get("ServerSideEncryption", "") or "SSECustomerAlgorithm" in head:
            return None
        return int(head["ContentLength"])


class _Http:
    def __init__(self, url: str, credential: Mapping[str, str]) -> None:
        from aiohttp import ClientTimeout  # noqa: PLC0415 - as above
        from fsspec.implementations.http import HTTPFileSystem  # noqa: PLC0415 - as above

        token = credential.get("HTTP_BEARER_TOKEN")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = ClientTimeout(
            total=None, sock_connect=_CONNECT_SECONDS, sock_read=_SILENCE_SECONDS
        )
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
                found = await self._fs._find(self._url, maxdepth=20)  # noqa: SLF001 - as above
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
                md5=_from_base64(answer.headers.get("Content-MD5", "")),
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


class _Other:
    """Whatever fsspec can read. What comes of an object must fit into memory piece by piece."""

    def __init__(self, url: str, credential: Mapping[str, str]) -> None:
        import fsspec  # noqa: PLC0415 - as above

        scheme = urlsplit(url).scheme
        try:
            self._fs: Any = fsspec.filesystem(
                scheme, skip_instance_cache=True, **_options(scheme, credential)
            )
        except ImportError as problem:
            raise UnusableSource(
                f"What reads {scheme}:// is not installed: {problem}. Ask an admin to install the"
                " service with its extra `stores`."
            ) from problem
        self._path = self._fs._strip_protocol(url)  # noqa: SLF001 - fsspec's own way

    async def objects(self) -> AsyncIterator[StoredObject]:
        async with telling(self._path):
            found = await asyncio.to_thread(self._fs.find, self._path, detail=True)
            for path, info in list(found.items())[: MOST_OBJECTS + 1]:
                version = next((str(info[key]) for key in _VERSIONS if info.get(key)), "")
                name = path.removeprefix(self._path).lstrip("/") or path.rpartition("/")[2]
                yield StoredObject(
                    name=name,
                    address=path,
                    size=int(info["size"]),
                    version=version,
                    md5=_md5_of(info),
                )

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        async with telling(repr(one.name)):
            reading = asyncio.to_thread(self._fs.cat_file, one.address, start=start, end=end)
            yield await asyncio.wait_for(reading, 10 * _SILENCE_SECONDS)

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - versions are no digests
        return None


def _options(scheme: str, credential: Mapping[str, str]) -> dict[str, Any]:
    if scheme in {"gs", "gcs"}:
        text = credential.get("GOOGLE_SERVICE_ACCOUNT")
        return {"token": _service_account(text) if text else "anon"}
    names = {
        "AZURE_STORAGE_ACCOUNT_NAME": "account_name",
        "AZURE_STORAGE_ACCOUNT_KEY": "account_key",
        "AZURE_STORAGE_SAS_TOKEN": "sas_token",
    }
    return {option: credential[name] for name, option in names.items() if name in credential}


def _service_account(text: str) -> dict[str, Any]:
    """Take a key alone: other words would have Google's library look for one on this machine."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("type") != "service_account":
        raise UnusableSource(
            "GOOGLE_SERVICE_ACCOUNT in the secret is not the JSON key of a service account."
            " Download one, and set it as a whole."
        )
    return found


def _md5_of(info: Mapping[str, Any]) -> str:
    found = info.get("md5Hash") or info.get("content_settings", {}).get("content_md5") or ""
    return bytes(found).hex() if isinstance(found, bytes | bytearray) else _from_base64(str(found))


def _is_plain(url: str) -> bool:
    return "?" not in url and "#" not in url


def _from_base64(text: str) -> str:
    try:
        found = base64.b64decode(text, validate=True).hex()
    except (binascii.Error, ValueError):
        return ""
    return found if _MD5.fullmatch(found) else ""


def _code(problem: BaseException) -> int | None:
    """Return the status of HTTP with which a store answered, if it did."""
    status = getattr(problem, "status", None)
    if isinstance(status, int):
        return status
    response = getattr(problem, "response", None)
    if isinstance(response, dict):
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    return _code(problem.__cause__) if problem.__cause__ else None


def _short(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:300] or type(problem).__name__
