"""Can people list, download and delete what a job hands over, and nothing else?"""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.errors import ResultUnknown
from storage.models import UnwantedResult
from storage.results import archives, listing, opening, unwanted
from storage.results.folders import ResultFolder, Results

from jobs.models import Job


@pytest.fixture
def outputs(settings: Settings, tmp_path: Path, job: Job) -> Results:
    """A job has handed over two files."""
    settings.CONCERTINA = replace(django_settings.CONCERTINA, state_dir=tmp_path)
    found = Results(state_dir=tmp_path, job_id=job.id, place=ResultFolder.OUTPUTS)
    (found.folder / "plots").mkdir(parents=True)
    (found.folder / "loss.csv").write_text("step,loss\n1,0.5\n")
    (found.folder / "plots" / "page.html").write_text("<script>alert(1)</script>")
    return found


def address(outputs: Results, *more: str) -> str:
    return "/".join((f"/api/v1/jobs/{outputs.job_id}/outputs", *more))


def names(api: APIClient, outputs: Results, **asked: str | int) -> list[str]:
    answer = api.get(address(outputs), asked)
    assert answer.status_code == 200, answer.json()
    return [item["path"] for item in answer.json()["items"]]


def content(answer: Any) -> bytes:
    async def read(pieces: AsyncIterator[bytes]) -> bytes:
        return b"".join([piece async for piece in pieces])

    return asyncio.run(read(answer.streaming_content))


def file(api: APIClient, outputs: Results, path: str, **headers: str) -> Any:
    return api.get(address(outputs, "file"), {"path": path}, headers=headers)


@pytest.mark.parametrize("seconds", [-1e12, -1.5, 0.0, 1e18])
def test_a_file_may_have_any_time(seconds: float) -> None:
    assert datetime.fromtimestamp(opening.moment(seconds), UTC).year in {1970, 9999}


def test_a_folder_is_listed_in_pages(api: APIClient, outputs: Results) -> None:
    for number in range(5):
        (outputs.folder / f"{number}.txt").write_text("x" * number)
    first = api.get(address(outputs), {"limit": 3}).json()
    second = api.get(address(outputs), {"limit": 9, "cursor": first["next_cursor"]}).json()
    assert second["next_cursor"] is None
    found = [(item["path"], item["bytes"]) for item in (*first["items"], *second["items"])]
    assert found == [*((f"{n}.txt", n) for n in range(5)), ("loss.csv", 16), ("plots", 0)]
    assert [item["is_folder"] for item in second["items"]][-1]
    assert names(api, outputs, folder="plots") == ["plots/page.html"]
    for wrong in ("a", "\xff", "YQ==!"):
        assert api.get(address(outputs), {"cursor": wrong}).status_code == 400


def test_a_job_that_has_written_nothing_has_no_outputs(api: APIClient, job: Job) -> None:
    assert api.get(f"/api/v1/jobs/{job.id}/outputs").json() == {"items": [], "next_cursor": None}
    assert content(api.get(f"/api/v1/jobs/{job.id}/outputs/archive")) == bytes(1024)


def test_a_file_comes_as_something_that_no_browser_runs(api: APIClient, outputs: Results) -> None:
    answer = file(api, outputs, "plots/page.html")
    assert content(answer) == b"<script>alert(1)</script>"
    told = answer.headers
    assert told["Content-Type"] == "application/octet-stream"
    assert told["Content-Disposition"] == 'attachment; filename="page.html"'
    assert told["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in told["Content-Security-Policy"]
    assert told["Content-Length"] == "25"


RANGES = {
    "bytes=0-3": (206, b"step", "bytes 0-3/16"),
    "bytes=10-": (206, b"1,0.5\n", "bytes 10-15/16"),
    "bytes=-2": (206, b"5\n", "bytes 14-15/16"),
    "bytes=10-99": (206, b"1,0.5\n", "bytes 10-15/16"),
    "bytes=16-": (416, b"", "bytes */16"),
    "bytes=-0": (416, b"", "bytes */16"),
    "bytes=5-2": (200, b"step,loss\n1,0.5\n", None),
    "bytes=0-1,3-4": (200, b"step,loss\n1,0.5\n", None),
    "lines=1-2": (200, b"step,loss\n1,0.5\n", None),
}


@pytest.mark.parametrize("asked", RANGES)
def test_a_part_of_a_file_is_sent_alone(api: APIClient, outputs: Results, asked: str) -> None:
    answer = file(api, outputs, "loss.csv", Range=asked)
    sent = content(answer) if answer.streaming else answer.content
    assert (answer.status_code, sent, answer.headers.get("Content-Range")) == RANGES[asked]


def test_what_has_changed_is_sent_whole_and_what_has_not_is_not_sent(
    api: APIClient, outputs: Results
) -> None:
    etag = file(api, outputs, "loss.csv").headers["ETag"]
    assert file(api, outputs, "loss.csv", **{"If-None-Match": f'W/"x", {etag}'}).status_code == 304
    assert file(api, outputs, "loss.csv", **{"If-None-Match": "*"}).status_code == 304
    part = {"Range": "bytes=4-", "If-Range": etag}
    assert file(api, outputs, "loss.csv", **part).status_code == 206
    (outputs.folder / "loss.csv").write_text("another content")
    assert content(file(api, outputs, "loss.csv", **part)) == b"another content"
    assert file(api, outputs, "loss.csv", **{"If-None-Match": etag}).status_code == 200
    head = api.head(address(outputs, "file"), {"path": "loss.csv"})
    assert (head.headers["Content-Length"], head.content) == ("15", b"")


def test_a_file_that_gets_longer_is_sent_as_it_was_and_one_that_gets_shorter_breaks_off(
    api: APIClient, outputs: Results
) -> None:
    answer = file(api, outputs, "loss.csv")
    with (outputs.folder / "loss.csv").open("a") as log:
        log.write("2,0.4\n")
    assert content(answer) == b"step,loss\n1,0.5\n"
    answer = file(api, outputs, "loss.csv")
    (outputs.folder / "loss.csv").write_text("")
    with pytest.raises(archives.FileShrank):
        content(answer)


def test_a_folder_comes_as_one_archive(api: APIClient, outputs: Results) -> None:
    (outputs.folder / "away").symlink_to("/etc")
    (outputs.folder / "large").write_bytes(os.urandom(3 << 20))
    answer = api.get(address(outputs, "archive"))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="digits-outputs.tar"'
    with tarfile.open(fileobj=io.BytesIO(content(answer))) as tar:
        assert sorted(tar.getnames()) == ["large", "loss.csv", "plots", "plots/page.html"]
        inner = tar.extractfile("large")
        assert inner is not None
        assert inner.read() == (outputs.folder / "large").read_bytes()
    answer = api.get(address(outputs, "archive"), {"folder": "plots"})
    with tarfile.open(fileobj=io.BytesIO(content(answer))) as tar:
        assert tar.getnames() == ["page.html"]
    assert api.get(address(outputs, "archive"), {"folder": "none"}).status_code == 404


WAYS_OUT = {
    "up": "../secret",
    "up from a folder": "plots/../../secret",
    "absolute": "/etc/passwd",
    "a link to a file": "link",
    "a link to a folder": "away/secret",
    "a pipe": "pipe",
    "a folder": "plots",
    "nothing": "none",
    "here": "./loss.csv",
    "two slashes": "plots//page.html",
    "a file as a folder": "loss.csv/a",
    "too deep": "a/" * 60 + "a",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_path_leads_out_of_the_folder(api: APIClient, outputs: Results, way: str) -> None:
    (outputs.folder.parent / "secret").write_text("secret")
    (outputs.folder / "link").symlink_to("../secret")
    (outputs.folder / "away").symlink_to("..")
    os.mkfifo(outputs.folder / "pipe")
    assert file(api, outputs, WAYS_OUT[way]).status_code == 404
    assert names(api, outputs) == ["loss.csv", "plots"]
    assert api.get(address(outputs), {"folder": "away"}).status_code == 404
    if way in {"up", "absolute", "nothing", "a link to a folder"}:
        answer = api.delete(f"{address(outputs)}?path={WAYS_OUT[way]}")
        assert answer.status_code == 404


def test_the_folder_itself_may_not_be_a_link_either(api: APIClient, outputs: Results) -> None:
    outputs.folder.rename(outputs.folder.with_name("elsewhere"))
    outputs.folder.symlink_to("elsewhere")
    assert names(api, outputs) == []
    assert file(api, outputs, "loss.csv").status_code == 404


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_a_second_name_of_somebody_elses_file_is_not_there(outputs: Results) -> None:
    os.chown(outputs.folder / "loss.csv", 12345, 12345)
    with pytest.raises(ResultUnknown):
        opening.file(outputs, "loss.csv")


def test_names_may_be_anything(api: APIClient, outputs: Results) -> None:
    (outputs.folder / "plots" / "page.html").unlink()
    for name in ('a"b\\c.txt', "line\nbreak", "grün.txt"):
        (outputs.folder / "plots" / name).write_text(name)
        answer = file(api, outputs, f"plots/{name}")
        assert content(answer).decode() == name
        assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    (outputs.folder / "plots" / os.fsdecode(b"\xff")).write_text("")
    assert len(names(api, outputs, folder="plots")) == 3


def test_what_is_deleted_is_gone_at_once_and_removed_later(
    api: APIClient, outputs: Results, tmp_path: Path
) -> None:
    assert api.delete(f"{address(outputs)}?path=plots").status_code == 204
    assert names(api, outputs) == ["loss.csv"]
    for again in (
        file(api, outputs, "plots/page.html"),
        api.get(address(outputs), {"folder": "plots"}),
        api.get(address(outputs, "archive"), {"folder": "plots"}),
        api.delete(f"{address(outputs)}?path=plots/page.html"),
    ):
        assert again.status_code == 404
    with tarfile.open(fileobj=io.BytesIO(content(api.get(address(outputs, "archive"))))) as tar:
        assert tar.getnames() == ["loss.csv"]
    assert (UnwantedResult.objects.get().path, (outputs.folder / "plots").exists()) == (
        "plots",
        True,
    )


def test_another_teams_outputs_do_not_exist(foreign_api: APIClient, outputs: Results) -> None:
    for answer in (
        foreign_api.get(address(outputs)),
        foreign_api.get(address(outputs, "archive")),
        file(foreign_api, outputs, "loss.csv"),
        foreign_api.delete(f"{address(outputs)}?path=loss.csv"),
    ):
        assert answer.status_code == 404


def test_nothing_is_removed_through_a_link(outputs: Results, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("")
    (outputs.folder / "away").symlink_to(kept)
    gone: list[str] = []
    for path in ("away/file", "none/file", "away", "plots"):
        unwanted.remove(outputs, path, lambda folder: gone.append(folder.name))
    assert (kept / "file").exists()
    assert not (outputs.folder / "away").is_symlink()
    assert gone == ["plots"]


def test_many_files_are_listed_page_by_page(outputs: Results) -> None:
    folder = outputs.folder / "many"
    folder.mkdir()
    for number in range(2_500):
        (folder / f"{number:05}").touch()
    after, found = "", list[str]()
    while True:
        page = listing.page(outputs, "many", after=after, limit=1000)
        found += [entry.path for entry in page.entries]
        if page.next_cursor is None:
            break
        after = page.next_cursor
    assert found == [f"many/{number:05}" for number in range(2_500)]
