"""Does code come in through the API in pieces, whole or not at all, and out again?"""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import tarfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.code.bounds import CodeBounds, CodeLimits
from storage.code.paths import CodePaths
from storage.models import CodeSnapshot
from storage.uploads.closed import remove
from storage.uploads.unused import KEPT_UNUSED, remove_unused
from tenancy.models import Team

from jobs.models import Job
from jobs.queries.upload_use import code_without_jobs
from tests.service.code.packed import Packed, files, member, of_bytes, packed
from tests.service.conftest import client_of, spec

CODE = files(train_py="print('hello')", lib_py="x = 1")


@pytest.fixture(autouse=True)
def paths(settings: Settings, tmp_path: Path) -> CodePaths:
    limits = CodeLimits(snapshot=CodeBounds(most_bytes=100_000), team_bytes=100_000, team_uploads=2)
    settings.CONCERTINA = replace(
        django_settings.CONCERTINA, state_dir=tmp_path, code_limits=limits
    )
    return CodePaths(state_dir=tmp_path)


def address(digest: str, team: str = "vision") -> str:
    return f"/api/v1/teams/{team}/code/{digest}"


def send(
    api: APIClient,
    code: Packed,
    *,
    offset: int = 0,
    end: int | None = None,
    total: int | None = None,
) -> Any:
    return api.put(
        address(code.digest),
        code.archive[offset:end],
        content_type="application/octet-stream",
        headers={
            "Upload-Offset": str(offset),
            "Upload-Length": str(len(code.archive) if total is None else total),
        },
    )


def content_of(answer: Any) -> bytes:
    async def read(pieces: AsyncIterator[bytes]) -> bytes:
        return b"".join([piece async for piece in pieces])

    return asyncio.run(read(answer.streaming_content))


def of_upload(paths: CodePaths, team: Team) -> list[str]:
    folder = paths.uploads(team.pk)
    return sorted(path.name for path in folder.iterdir() if path.name != "lock")


def test_an_archive_in_one_piece_is_there_at_once(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    assert api.get(address(CODE.digest)).json()["is_complete"] is False
    answer = send(api, CODE)
    assert (answer.status_code, answer.json()["is_complete"]) == (201, True)
    assert (paths.folder(vision.pk, CODE.digest) / "train.py").read_text() == "print('hello')"
    snapshot = CodeSnapshot.objects.get()
    assert (snapshot.files, snapshot.bytes, snapshot.created_by) == (2, 19, "vision/ci")
    assert of_upload(paths, vision) == []
    assert send(api, CODE).status_code == 201


def test_an_upload_goes_on_where_it_was_cut_off(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    assert (
        send(api, CODE, end=50).json() | {"received": 50}
        == send(api, CODE, offset=50, end=50).json()
    )
    answer = send(api, CODE, offset=20)
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_offset")
    assert "number 50" in answer.json()["message"]
    assert not CodeSnapshot.objects.exists()
    received = api.get(address(CODE.digest)).json()["received"]
    assert (received, send(api, CODE, offset=received).status_code) == (50, 201)


def test_what_is_not_what_it_says_leaves_nothing(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    wrong = replace(CODE, digest="0" * 64)
    answer = send(api, wrong)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_snapshot")
    assert CODE.digest in answer.json()["message"]
    assert not CodeSnapshot.objects.exists()
    assert of_upload(paths, vision) == []
    assert [path.name for path in paths.uploads(vision.pk).parent.iterdir()] == [".uploads"]


@pytest.mark.parametrize("total", [10, 100_001])
def test_a_length_that_cannot_be_is_refused(
    api: APIClient, vision: Team, paths: CodePaths, total: int
) -> None:
    assert send(api, CODE, total=total).json()["code"] == "invalid_snapshot"
    assert of_upload(paths, vision) == []


@pytest.mark.parametrize("header", ["Upload-Offset", "Upload-Length"])
@pytest.mark.parametrize("value", ["", "-1", "1.5", "many", "9" * 20])
def test_both_headers_are_numbers(api: APIClient, header: str, value: str) -> None:
    headers = {"Upload-Offset": "0", "Upload-Length": "10", header: value}
    answer = api.put(
        address(CODE.digest), b"a", content_type="application/octet-stream", headers=headers
    )
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, header)


def test_a_team_has_so_many_uploads_under_way_and_so_much_code(
    api: APIClient, vision: Team
) -> None:
    for number in range(2):
        assert send(api, files(a=str(number)), end=10).status_code == 200
    answer = send(api, CODE, end=10)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_uploads")
    for number in range(2):
        code = files(a=str(number))
        assert send(api, code, offset=10).status_code == 201
    for column in ("bytes", "kept_bytes"):  # an earlier release knew the first alone
        CodeSnapshot.objects.update(**{"bytes": 0, "kept_bytes": 0, column: 50_000})
        assert send(api, CODE).json()["code"] == "too_much_code"


def test_what_is_small_or_no_file_counts_as_well(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    empty = packed([member(f"a/b/{number}") for number in range(5)])
    padded = of_bytes(gzip.decompress(empty.archive) + os.urandom(50_000))
    for code in (empty, padded):
        assert send(api, code).status_code == 201
        kept = CodeSnapshot.objects.get(digest=code.digest)
        assert (kept.files, kept.bytes) == (5, 0)
        assert kept.kept_bytes == 7 * 4096 + len(code.archive)


def test_another_teams_code_does_not_exist(api: APIClient, foreign_api: APIClient) -> None:
    send(api, CODE)
    assert foreign_api.get(address(CODE.digest)).status_code == 404
    assert foreign_api.get(address(CODE.digest, team="language")).json()["is_complete"] is False
    document = spec(code={"digest": CODE.digest})
    assert foreign_api.post("/api/v1/jobs", document, format="json").status_code == 422


def test_a_job_is_submitted_with_code_that_is_there(api: APIClient) -> None:
    document = spec(code={"digest": CODE.digest, "git": {"commit": "abcdef1", "branch": "main"}})
    answer = api.post("/api/v1/jobs", document, format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_code")
    assert answer.json()["details"][0]["field"] == "code.digest"
    send(api, CODE)
    answer = api.post("/api/v1/jobs", document, format="json")
    assert answer.status_code == 201
    assert Job.objects.get().code == CODE.digest


def test_a_jobs_code_comes_out_as_it_went_in(api: APIClient, foreign_api: APIClient) -> None:
    send(api, CODE)
    made = api.post("/api/v1/jobs", spec(code={"digest": CODE.digest}), format="json").json()
    answer = api.get(f"/api/v1/jobs/{made['id']}/code")
    assert answer.headers["Content-Disposition"].endswith('.tar.gz"')
    archive = content_of(answer)
    assert archive == CODE.archive
    assert (
        content_of(api.get(f"/api/v1/jobs/{made['id']}/code", headers={"Range": "bytes=9-"}))
        == (archive[9:])
    )
    plain = gzip.decompress(archive)
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        assert tar.getnames() == ["train.py", "lib.py"]
    assert foreign_api.get(f"/api/v1/jobs/{made['id']}/code").status_code == 404


def test_a_job_without_code_has_none(api: APIClient, job: Job) -> None:
    assert api.get(f"/api/v1/jobs/{job.id}/code").status_code == 404


def test_code_goes_a_day_after_the_last_job_that_refers_to_it(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    unused = files(a="nobody's")
    gone: list[Path] = []
    for code in (CODE, unused):
        send(api, code)
    api.post("/api/v1/jobs", spec(code={"digest": CODE.digest}), format="json")
    assert remove_unused(paths, CodeSnapshot.objects.all(), code_without_jobs, gone.append) == 0
    CodeSnapshot.objects.update(used_at=timezone.now() - KEPT_UNUSED - timedelta(seconds=1))
    assert remove_unused(paths, CodeSnapshot.objects.all(), code_without_jobs, gone.append) == 1
    assert CodeSnapshot.objects.get().digest == CODE.digest
    assert gone == []  # it may be on its way into its place


def test_what_the_database_does_not_know_goes_when_it_is_old(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    gone: list[Path] = []
    send(api, CODE)
    CodeSnapshot.objects.all().delete()
    folder, archive = (f(vision.pk, CODE.digest) for f in (paths.folder, paths.archive))
    for path in (folder, archive):
        os.utime(path, (0, 0))
    remove_unused(paths, CodeSnapshot.objects.all(), code_without_jobs, gone.append)
    assert gone == [folder]
    assert not archive.exists()


def test_a_snapshot_whose_folder_is_lost_is_uploaded_again(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    send(api, CODE)
    remove(paths.folder(vision.pk, CODE.digest))
    assert api.get(address(CODE.digest)).json()["is_complete"] is False
    assert send(api, CODE).status_code == 201
    assert (paths.folder(vision.pk, CODE.digest) / "lib.py").exists()


@pytest.mark.parametrize("offset", [0, 50])
def test_a_piece_that_comes_after_somebody_completed_the_upload_leaves_nothing(
    api: APIClient,
    vision: Team,
    paths: CodePaths,
    monkeypatch: pytest.MonkeyPatch,
    offset: int,
) -> None:
    make = CodePaths.make

    def make_late(self: CodePaths, team_id: int) -> None:
        monkeypatch.setattr(CodePaths, "make", make)
        assert send(api, CODE).status_code == 201
        make(self, team_id)

    monkeypatch.setattr(CodePaths, "make", make_late)
    assert send(api, CODE, offset=offset, end=60).status_code == 201
    assert of_upload(paths, vision) == []


def test_a_piece_without_its_first_one_leaves_nothing(
    api: APIClient, vision: Team, paths: CodePaths
) -> None:
    answer = send(api, CODE, offset=50)
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_offset")
    assert of_upload(paths, vision) == []


@pytest.mark.django_db(transaction=True)
def test_of_many_who_upload_the_same_at_once_it_is_there_once(
    vision: Team, paths: CodePaths
) -> None:
    code = packed([member(f"f{n}.py", b"x" * 100) for n in range(20)])
    apis = [client_of(vision)] * 4

    def upload(api: APIClient) -> int:
        try:
            offset, status = 0, 0
            while status != 201:
                answer = send(api, code, offset=offset, end=offset + 97)
                status = answer.status_code
                state = api.get(address(code.digest)).json()
                offset = state["received"]
                if state["is_complete"]:
                    return 201
            return int(status)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(upload, apis)) == [201] * 4
    assert CodeSnapshot.objects.count() == 1
    assert len(list(paths.folder(vision.pk, code.digest).iterdir())) == 20
    assert of_upload(paths, vision) == []
