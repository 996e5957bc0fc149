"""Stores that speak Google's and Microsoft's protocols, for tests: emulators of both.

Azurite is Microsoft's own, comes through npm and takes 360 MB, so it is used where it is installed.
Google's takes no signatures, and knows no generations but the newest.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx
import pytest
from azure.storage.blob import ContainerClient
from gcp_storage_emulator.server import create_server

from tests.polling import pause
from tests.ports import free_port

BUCKET: Final = "datasets"
_AZURITE: Final = "azurite-blob"
_ACCOUNT: Final = "tests"
_ACCOUNT_KEY: Final = base64.b64encode(b"of tests alone").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudStore:
    """One bucket of an emulator on this machine."""

    scheme: str
    address: str  # host:port
    endpoint: str
    credential: Mapping[str, str]
    put: Callable[[str, bytes], object]
    delete: Callable[[str], object]

    def url(self, key: str) -> str:
        return f"{self.scheme}://{BUCKET}/{key}"


@contextmanager
def google_store() -> Iterator[CloudStore]:
    port = free_port()
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket=BUCKET)
    server.start()
    address = f"127.0.0.1:{port}"
    with httpx.Client(base_url=f"http://{address}", timeout=60) as client:

        def put(key: str, content: bytes) -> None:
            parts = {"metadata": (None, json.dumps({"name": key})), "content": (None, content)}
            params = {"uploadType": "multipart"}
            sent = client.post(f"/upload/storage/v1/b/{BUCKET}/o", params=params, files=parts)
            sent.raise_for_status()

        def delete(key: str) -> None:
            name = quote(key, safe="")
            client.delete(f"/storage/v1/b/{BUCKET}/o/{name}").raise_for_status()

        try:
            yield CloudStore(
                scheme="gs",
                address=address,
                endpoint=f"http://{address}",
                credential={},
                put=put,
                delete=delete,
            )
        finally:
            server.stop()


@contextmanager
def azure_store(folder: Path) -> Iterator[CloudStore]:
    program = shutil.which(_AZURITE)
    if program is None:
        pytest.skip(f"{_AZURITE} is not installed: npm install --global azurite")
    port = free_port()
    address = f"127.0.0.1:{port}"
    endpoint = f"http://{address}/{_ACCOUNT}"
    process = subprocess.Popen(
        [
            program,
            "--blobPort",
            str(port),
            "--inMemoryPersistence",
            "--silent",
            "--skipApiVersionCheck",
        ],
        cwd=folder,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{_ACCOUNT}:{_ACCOUNT_KEY}"},
    )
    key = {"account_name": _ACCOUNT, "account_key": _ACCOUNT_KEY}
    client = ContainerClient(endpoint, BUCKET, credential=key)
    try:
        _wait_for(process, endpoint)
        client.create_container()
        yield CloudStore(
            scheme="az",
            address=address,
            endpoint=endpoint,
            credential={
                "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": _ACCOUNT_KEY,
            },
            put=lambda key, content: client.upload_blob(key, content, overwrite=True),
            delete=client.delete_blob,
        )
    finally:
        client.close()
        process.kill()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], endpoint: str) -> None:
    began = time.monotonic()
    while True:
        assert process.poll() is None
        try:
            httpx.get(endpoint)
        except httpx.HTTPError:
            pause(began)
        else:
            return
