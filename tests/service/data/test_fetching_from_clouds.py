"""What do fetchers make of Google's and Microsoft's stores? Emulators of both are asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from aiohttp import ClientPayloadError
from aiohttp.http_exceptions import TransferEncodingError
from gcsfs.retry import HttpError
from google.auth.exceptions import RefreshError
from storage.data.fetcher.listing import list_objects
from storage.data.fetcher.orders import (
    FetchResult,
    ObjectChanged,
    SourceAway,
    UnusableSource,
)
from storage.data.fetcher.pieces import PIECE_BYTES
from storage.data.fetcher.stores.answers import telling
from storage.data.fetcher.stores.opening import open_store
from storage.data.listings import StoredObject

from autoscaler.backoff import Backoff
from tests.cloud_stores import CloudStore, azure_store, google_store
from tests.object_store import noise
from tests.service.data.test_fetching_from_servers import order, outcome

AT_ONCE = Backoff(first_seconds=0.0, longest_seconds=0.0)


@pytest.fixture(params=["google", "azure"], scope="module")
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudStore]:
    if request.param == "google":
        with google_store() as google:
            yield google
    else:
        with azure_store(tmp_path_factory.mktemp("azurite")) as azure:
            yield azure


def listed(
    store: CloudStore, url: str, *, credential: Mapping[str, str] | None = None
) -> list[StoredObject]:
    async def run() -> list[StoredObject]:
        asked = open_store(url, endpoint=store.endpoint, credential=credential or store.credential)
        async with aclosing(asked) as opened:
            return list((await list_objects(opened, between_tries=AT_ONCE)).objects)

    return asyncio.run(run())


def read(store: CloudStore, one: StoredObject, start: int, end: int) -> bytes:
    async def run() -> bytes:
        asked = open_store(store.url(""), endpoint=store.endpoint, credential=store.credential)
        async with aclosing(asked) as opened, aclosing(opened.read(one, start, end)) as chunks:
            return b"".join([chunk async for chunk in chunks])

    return asyncio.run(run())


def test_all_below_a_prefix_comes_checked(store: CloudStore, tmp_path: Path) -> None:
    large = noise(PIECE_BYTES + 7)
    store.put("whole/large", large)
    store.put("whole/empty", b"")
    store.put("whole/a folder/50 %/ü#?.txt", b"odd")
    store.put("whole/marked/", b"")
    store.put("wholesale", b"begins alike")
    more = {
        "endpoint": store.endpoint,
        "credential": store.credential,
        "networks": (store.address,),
    }
    found = outcome(order(store.url("whole"), tmp_path, **more))
    assert (found.result, found.objects) == (FetchResult.DONE, 3), found.problem
    folder = tmp_path / "all"
    ordered = order(
        store.url("whole"), tmp_path, part=str(tmp_path / "part"), folder=str(folder), **more
    )
    fetched = outcome(ordered)
    assert fetched.result is FetchResult.DONE, fetched.problem
    assert (folder / "large").read_bytes() == large
    assert (folder / "empty").read_bytes() == b""
    assert (folder / "a folder" / "50 %" / "ü#?.txt").read_bytes() == b"odd"
    assert not (folder / "wholesale").exists()


def test_one_object_is_named_by_its_whole_name(store: CloudStore) -> None:
    store.put("one/a.bin", b"0123456789")
    store.put("one/a.bin.old", b"begins alike")
    (found,) = listed(store, store.url("one/a.bin"))
    assert (found.name, found.size, len(found.md5)) == ("a.bin", 10, 32)
    assert read(store, found, 3, 7) == b"3456"


def test_a_listing_goes_on_beyond_its_first_page(
    store: CloudStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.data.fetcher.stores.google.PAGE", 2)
    monkeypatch.setattr("storage.data.fetcher.stores.azure.PAGE", 2)
    for number in range(5):
        store.put(f"pages/{number}", b"%d" % number)
    assert [one.name for one in listed(store, store.url("pages"))] == ["0", "1", "2", "3", "4"]


def test_what_is_deleted_or_replaced_meanwhile_is_noticed(store: CloudStore) -> None:
    store.put("changing/one", b"before")
    (found,) = listed(store, store.url("changing/one"))
    if store.scheme == "az":  # Google's emulator knows the newest generation only
        store.put("changing/one", b"behind")
        with pytest.raises(ObjectChanged, match="'one' is another now, or gone"):
            read(store, found, 0, 6)
    store.delete("changing/one")
    with pytest.raises(ObjectChanged, match="'one' is another now, or gone"):
        read(store, found, 0, 6)


def test_a_bucket_that_is_not_there_is_told(store: CloudStore) -> None:
    with pytest.raises(UnusableSource, match="nowhere is another now, or gone"):
        listed(store, f"{store.scheme}://nowhere")


def test_a_wrong_key_of_azure_is_told(tmp_path: Path) -> None:
    with azure_store(tmp_path) as store:
        wrong = {**store.credential, "AZURE_STORAGE_ACCOUNT_KEY": "d3Jvbmc="}
        with pytest.raises(UnusableSource, match="The store refuses container datasets"):
            listed(store, store.url("x"), credential=wrong)


@pytest.mark.parametrize(
    ("credential", "said"),
    [
        ({}, "which account of Azure"),
        ({"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_ACCOUNT_KEY": "?"}, "no key of an"),
        ({"AZURE_STORAGE_ACCOUNT_KEY": "d3Jvbmc="}, "which account of Azure"),
        (
            {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_SAS_TOKEN": "sv=2024-11-04&sp=r"},
            "no shared access signature",
        ),
    ],
)
def test_a_secret_of_azure_that_cannot_be_one_is_told(
    credential: dict[str, str], said: str
) -> None:
    with pytest.raises(UnusableSource, match=said):
        open_store("az://datasets/x", endpoint="", credential=credential)


@pytest.mark.parametrize(
    "key", ["{", "[]", '{"type": "authorized_user"}', '{"type": "service_account"}']
)
def test_a_secret_of_google_that_cannot_be_one_is_told(key: str) -> None:
    with pytest.raises(UnusableSource, match="not the JSON key of a service account"):
        open_store("gs://datasets/x", endpoint="", credential={"GOOGLE_SERVICE_ACCOUNT": key})


def test_a_token_of_azure_may_be_copied_with_its_question_mark_and_is_in_no_message() -> None:
    asked = list[str]()

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    async def ask(endpoint: str) -> None:
        token = {"AZURE_STORAGE_SAS_TOKEN": " ?sv=2024-11-04&sp=r&sig=c2VjcmV0\n"}
        store = open_store("az://datasets/x", endpoint=endpoint, credential=token)
        async with aclosing(store) as opened:
            await list_objects(opened, between_tries=AT_ONCE)

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            with pytest.raises(UnusableSource, match="The store refuses container") as told:
                asyncio.run(ask(f"http://127.0.0.1:{server.server_port}/account/"))
        finally:
            server.shutdown()
            thread.join()
    (path,) = asked
    assert path.startswith("/account/datasets?")
    assert "sig=c2VjcmV0" in path
    assert "c2VjcmV0" not in str(told.value)


@pytest.mark.parametrize(
    ("trouble", "told", "said"),
    [
        ({}, UnusableSource, "for no good: invalid_grant. Download another"),
        ({"retryable": True}, SourceAway, "signs nobody in at the moment"),
    ],
)
def test_a_key_of_google_that_is_no_good_any_more_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, trouble: dict[str, bool], told: type[Exception], said: str
) -> None:
    def refuse(*_: object) -> None:
        raise HttpError({"code": 401, "message": "Invalid Credentials"}) from RefreshError(
            "invalid_grant", **trouble
        )

    async def ask() -> None:
        async with aclosing(open_store("gs://datasets/x", endpoint="", credential={})) as opened:
            await list_objects(opened, between_tries=AT_ONCE)

    monkeypatch.setattr("gcsfs.core.GCSFileSystem._get_headers", refuse)
    with pytest.raises(told, match=said):
        asyncio.run(ask())


def test_an_answer_that_is_cut_off_is_no_refusal() -> None:
    async def ask() -> None:
        async with telling("bucket datasets"):
            raise ClientPayloadError from TransferEncodingError("cut off")  # it has the code 400

    with pytest.raises(SourceAway):
        asyncio.run(ask())


def test_a_folder_and_nothing_in_it_is_no_file(store: CloudStore) -> None:
    store.put("nothing/", b"")
    for name in ("nothing", "nothing/"):
        with pytest.raises(UnusableSource, match="There are no objects at this URL"):
            listed(store, store.url(name))


def test_an_endpoint_may_end_with_a_slash(store: CloudStore) -> None:
    store.put("slash/one", b"1")
    slashed = replace(store, endpoint=f"{store.endpoint}/")
    (found,) = listed(slashed, store.url("slash"))
    assert read(slashed, found, 0, 1) == b"1"


def test_a_page_of_a_listing_that_has_no_end_is_not_read_on(
    store: CloudStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.scheme != "gs":
        pytest.skip("Microsoft's client reads its pages itself.")
    monkeypatch.setattr("storage.data.fetcher.stores.google._LARGEST_PAGE", 20)
    store.put("endless/one", b"1")
    with pytest.raises(UnusableSource, match="more than a page of a listing may have"):
        listed(store, store.url("endless"))
