"""Which store is at a URL?"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from storage.data.fetcher.orders import UnusableSource
from storage.data.fetcher.stores.port import ObjectStore


def open_store(url: str, *, endpoint: str, credential: Mapping[str, str]) -> ObjectStore:
    """Return the store at a URL. Call it, and all that it offers, in one running event loop.

    Each kind is imported when it is needed: that takes half a second, and no fetcher needs two.

    Raises:
        UnusableSource: what reads such a store is not installed, or its credential is no good.
    """
    scheme = urlsplit(url).scheme
    try:
        match scheme:
            case "s3":
                from storage.data.fetcher.stores.s3 import S3Store  # noqa: PLC0415 - as said above

                return S3Store(url, endpoint, credential)
            case "gs":
                from storage.data.fetcher.stores.google import GoogleStore  # noqa: PLC0415 - as above

                return GoogleStore(url, endpoint, credential)
            case "az":
                from storage.data.fetcher.stores.azure import AzureStore  # noqa: PLC0415 - as above

                return AzureStore(url, endpoint, credential)
            case "http" | "https":
                from storage.data.fetcher.stores.web import WebStore  # noqa: PLC0415 - as above

                return WebStore(url, credential)
    except ImportError as problem:
        raise UnusableSource(
            f"What reads {scheme}:// is not installed: {problem}. Ask an admin to install the"
            " service with its extra `stores`."
        ) from problem
    raise UnusableSource(f"Nothing reads {scheme}://.")
