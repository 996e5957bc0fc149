"""How is Azure Blob Storage read? Through Microsoft's client."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Final
from urllib.parse import parse_qsl

from azure.core import MatchConditions
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient

from storage.data.fetcher.orders import UnusableSource
from storage.data.fetcher.stores.answers import telling
from storage.data.fetcher.stores.below import below
from storage.data.fetcher.stores.port import CHUNK_BYTES, CONNECT_SECONDS, SILENCE_SECONDS
from storage.data.listings import StoredObject

PAGE: Final = 1000  # blobs of one answer, at most


class AzureStore:
    """Blobs below a prefix of a container. A version is an `ETag`."""

    def __init__(self, url: str, endpoint: str, credential: Mapping[str, str]) -> None:
        self._container, _, self._prefix = url.removeprefix("az://").partition("/")
        account = credential.get("AZURE_STORAGE_ACCOUNT_NAME", "")
        if not account and not endpoint:
            raise UnusableSource(
                "The secret does not tell which account of Azure this is. Add"
                " AZURE_STORAGE_ACCOUNT_NAME, or give the source the account's endpoint."
            )
        self._client = ContainerClient(
            endpoint or f"https://{account}.blob.core.windows.net",
            self._container,
            credential=_key(account, credential),
            connection_timeout=CONNECT_SECONDS,
            read_timeout=SILENCE_SECONDS,
            retry_total=0,  # whoever asks us tries again
            max_chunk_get_size=CHUNK_BYTES,
        )

    async def objects(self) -> AsyncIterator[StoredObject]:
        async with telling(f"container {self._container}"):
            async for one in below(self._prefix, self._listed):
                yield one

    async def _listed(self, prefix: str) -> AsyncIterator[StoredObject]:
        blobs = self._client.list_blobs(prefix, include=["metadata"], results_per_page=PAGE)
        async for blob in blobs:
            if not _is_folder(blob):
                yield _object(blob)

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        async with telling(repr(one.name)):
            stream = await self._client.download_blob(
                one.address,
                offset=start,
                length=end - start,
                etag=one.version,
                match_condition=MatchConditions.IfNotModified,
                decompress=False,
            )
            async for chunk in stream.chunks():
                yield chunk

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - versions are no digests
        return None

    async def aclose(self) -> None:
        await self._client.close()


def _key(account: str, credential: Mapping[str, str]) -> dict[str, str] | str | None:
    key = credential.get("AZURE_STORAGE_ACCOUNT_KEY")
    if not key:
        return _token(credential.get("AZURE_STORAGE_SAS_TOKEN", ""))
    try:
        base64.b64decode(key, validate=True)
    except ValueError as problem:
        raise UnusableSource(
            "AZURE_STORAGE_ACCOUNT_KEY in the secret is no key of an account. Copy it anew, as a"
            " whole."
        ) from problem
    if not account:
        raise UnusableSource("A key of Azure takes AZURE_STORAGE_ACCOUNT_NAME beside it.")
    return {"account_name": account, "account_key": key}


def _token(text: str) -> str | None:
    """Take a token alone: other words would count as a key, with which nobody could sign."""
    text = text.strip().removeprefix("?")
    if not text:
        return None
    if "sig" not in dict(parse_qsl(text)):
        raise UnusableSource(
            "AZURE_STORAGE_SAS_TOKEN in the secret is no shared access signature. Copy it anew, as"
            " a whole: what comes behind the ? of its URL."
        )
    return text


def _is_folder(blob: BlobProperties) -> bool:
    """True for the mark of a folder, as accounts with hierarchies and other programs leave them."""
    is_marked = (blob.metadata or {}).get("hdi_isfolder", "") == "true"
    return not blob.size and (is_marked or blob.name.endswith("/"))


def _object(blob: BlobProperties) -> StoredObject:
    md5 = blob.content_settings.content_md5
    return StoredObject(
        name=blob.name,
        address=blob.name,
        size=int(blob.size),
        version=blob.etag or "",
        md5=bytes(md5).hex() if md5 else "",
    )
