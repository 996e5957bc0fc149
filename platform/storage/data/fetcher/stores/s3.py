"""How is S3 read? Through the connection that `s3fs` holds."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping

from s3fs import S3FileSystem

from storage.data.fetcher.stores.answers import is_md5, telling
from storage.data.fetcher.stores.below import below
from storage.data.fetcher.stores.port import CHUNK_BYTES, CONNECT_SECONDS, SILENCE_SECONDS
from storage.data.listings import StoredObject


class S3Store:
    """Objects below a prefix of a bucket. A version is an `ETag`."""

    def __init__(self, url: str, endpoint: str, credential: Mapping[str, str]) -> None:
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
                "connect_timeout": CONNECT_SECONDS,
                "read_timeout": SILENCE_SECONDS,
                "retries": {"max_attempts": 1},
                "max_pool_connections": 32,
            },
            asynchronous=True,
            skip_instance_cache=True,
        )
        self._fs.retries = 1  # whoever asks us tries again
        self._bucket, _, self._prefix = url.removeprefix("s3://").partition("/")

    async def objects(self) -> AsyncIterator[StoredObject]:
        async with telling(f"bucket {self._bucket}"):
            async for one in below(self._prefix, self._listed):
                yield one

    async def _listed(self, prefix: str) -> AsyncIterator[StoredObject]:
        more: dict[str, str] = {}
        while True:
            page = await self._fs._call_s3(  # noqa: SLF001 - the public name is for other threads
                "list_objects_v2", Bucket=self._bucket, Prefix=prefix, **more
            )
            for row in page.get("Contents", ()):
                key, size, tag = row["Key"], int(row["Size"]), row["ETag"].strip('"')
                if size or not key.endswith("/"):  # else the mark of a folder
                    yield StoredObject(
                        name=key,
                        address=key,
                        size=size,
                        version=tag,
                        md5=tag if is_md5(tag) else "",
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

    async def aclose(self) -> None:
        await (await self._fs.set_session()).close()
