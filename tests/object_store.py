"""A store that speaks S3, for tests: moto's server, which keeps objects in memory.

It is no real one. Those that could be installed here need a cluster (Ceph's radosgw) or rings and
four servers (Swift); moto checks no signatures, and answers what tests need of the protocol: pages,
ranges, `If-Match`, uploads in parts, and errors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import boto3
from moto.server import ThreadedMotoServer

BUCKET: Final = "datasets"
CREDENTIAL: Final = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """One bucket on this machine."""

    address: str  # host:port
    client: Any

    @property
    def endpoint(self) -> str:
        return f"http://{self.address}"

    def put(self, key: str, content: bytes) -> None:
        """Anybody may read it, as one may with a URL and no secret."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content, ACL="public-read")

    def put_in_parts(self, key: str, *parts: bytes) -> None:
        """All but the last have 5 MiB at least."""
        upload = self.client.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
        target = {"Bucket": BUCKET, "Key": key, "UploadId": upload}
        made = [
            {
                "PartNumber": n,
                "ETag": self.client.upload_part(**target, PartNumber=n, Body=part)["ETag"],
            }
            for n, part in enumerate(parts, start=1)
        ]
        self.client.complete_multipart_upload(**target, MultipartUpload={"Parts": made})

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=key)


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        client = boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        )
        client.create_bucket(Bucket=BUCKET)
        yield ObjectStore(address=f"{host}:{port}", client=client)
        client.close()
    finally:
        server.stop()


def noise(count: int, seed: str = "") -> bytes:
    """Bytes that look like no others, the same for the same seed."""
    return hashlib.shake_128(seed.encode()).digest(count)
