"""Does data come in through the API, whole or not at all, and do jobs keep their version of it?"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.data import sources
from storage.data.uploaded import manifests, uploads
from storage.data.uploaded.bounds import DataLimits
from storage.data.uploaded.manifests import Manifest
from storage.data.uploaded.paths import UploadedPaths
from storage.data.uploaded.uploads import DataUpload
from storage.errors import ManifestInvalid
from storage.models import DataSnapshot, DataSource
from storage.uploads.unused import KEPT_UNUSED, remove_unused
from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.queries.upload_use import data_without_users
from tests.service.conftest import SubmitJob

BLOCK = 16  # bytes, here
FILES = {"a/one.txt": b"1" * 20, "a/zero": b"", "b.sh": b"2" * 14, "c": b"3"}


@pytest.fixture(autouse=True)
def paths(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UploadedPaths:
    for module in (manifests, uploads):
        monkeypatch.setattr(module, "BLOCK", BLOCK)
    limits = DataLimits(most_bytes=1000, team_bytes=100_000, team_uploads=2)
    settings.CONCERTINA = replace(
        django_settings.CONCERTINA, state_dir=tmp_path, data_limits=limits
    )
    uploads.read_manifest.cache_clear()
    return UploadedPaths(state_dir=tmp_path)


def manifest_of(files: dict[str, bytes]) -> bytes:
    content = b"".join(files[name] for name in sorted(files))
    lines = [
        f"{'x' if name.endswith('.sh') else 'f'} {len(files[name])} {name}\n"
        for name in sorted(files)
    ]
    blocks = (content[start : start + BLOCK] for start in range(0, len(content), BLOCK))
    lines += (f"b {hashlib.sha256(block).hexdigest()}\n" for block in blocks)
    return "".join(lines).encode()


class Folder:
    """As a client sends it."""

    def __init__(self, files: dict[str, bytes], manifest: bytes = b"") -> None:
        self.manifest = manifest or manifest_of(files)
        self.digest = hashlib.sha256(self.manifest).hexdigest()
        self.head = b"concertina data 1 %08d\n" % len(self.manifest) + self.manifest
        self.content = b"".join(files[name] for name in sorted(files))
        self.length = len(self.head) + len(self.content)

    @property
    def pieces(self) -> list[tuple[int, bytes]]:
        blocks = range(0, len(self.content), BLOCK)
        return [
            (0, self.head),
            *((len(self.head) + at, self.content[at : at + BLOCK]) for at in blocks),
        ]

    def send(
        self, api: APIClient, offset: int, content: bytes, team: str = "vision", **more: int
    ) -> Any:
        headers = {"Upload-Offset": offset, "Upload-Length": self.length, **more}
        return api.put(
            f"/api/v1/teams/{team}/data/{self.digest}",
            content,
            content_type="application/octet-stream",
            headers={name.replace("_", "-"): str(value) for name, value in headers.items()},
        )

    def send_all(self, api: APIClient) -> Any:
        return [self.send(api, *piece) for piece in self.pieces][-1]


def name(api: APIClient, folder: Folder, called: str = "digits", *teams: str) -> Any:
    body = {"kind": "upload", "digest": folder.digest, "teams": teams or ["vision"]}
    return api.put(f"/api/v1/data-sources/{called}", body, format="json")


def under_way(paths: UploadedPaths, team: Team) -> list[str]:
    folder = paths.uploads(team.pk)
    return sorted(path.name for path in folder.iterdir() if path.name != "lock")


def test_a_folder_comes_in_blocks_and_is_a_source(
    api: APIClient, vision: Team, paths: UploadedPaths
) -> None:
    folder = Folder(FILES)
    answer = folder.send_all(api)
    assert (answer.status_code, answer.json()["is_complete"]) == (201, True)
    there = paths.folder(vision.pk, folder.digest)
    found = {
        path.relative_to(there).as_posix(): path for path in there.rglob("*") if path.is_file()
    }
    assert {name: path.read_bytes() for name, path in found.items()} == FILES
    assert {name: oct(path.stat().st_mode & 0o777) for name, path in found.items()} == {
        "a/one.txt": "0o444",
        "a/zero": "0o444",
        "b.sh": "0o555",
        "c": "0o444",
    }
    assert (there / "a").stat().st_mode & 0o777 == 0o555
    row = DataSnapshot.objects.get()
    assert (row.files, row.bytes, row.kept_bytes) == (4, 35, 35 + 5 * 4096)
    assert under_way(paths, vision) == []
    assert name(api, folder).status_code == 201
    (shown,) = api.get("/api/v1/data-sources").json()["items"]
    assert (shown["kind"], shown["digest"], shown["cached_bytes"]) == ("upload", folder.digest, 35)
    assert folder.send(api, *folder.pieces[0]).status_code == 201, "it is there already"


def test_it_goes_on_where_it_was_broken_off(api: APIClient) -> None:
    folder = Folder(FILES)
    first, second, *_ = folder.pieces
    assert folder.send(api, *first).json()["received"] == len(folder.head)
    again = folder.send(api, *first)
    assert (again.status_code, again.json()["code"]) == (409, "wrong_offset")
    assert folder.send(api, *second).json()["received"] == len(folder.head) + BLOCK
    assert not DataSnapshot.objects.exists()
    for piece in folder.pieces[2:]:
        answer = folder.send(api, *piece)
    assert answer.json()["is_complete"]


def test_a_damaged_block_is_refused_and_may_be_sent_again(
    api: APIClient, vision: Team, paths: UploadedPaths
) -> None:
    folder = Folder(FILES)
    first, (offset, block), *rest = folder.pieces
    folder.send(api, *first)
    for wrong in (b"?" * BLOCK, block[:-1], block + b"?", b""):
        refused = folder.send(api, offset, wrong)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_snapshot")
    for piece in ((offset, block), *rest):
        answer = folder.send(api, *piece)
    assert answer.json()["is_complete"]
    assert (paths.folder(vision.pk, folder.digest) / "c").read_bytes() == b"3"


def test_no_folder_is_complete_before_all_of_it_is_here(
    api: APIClient, vision: Team, paths: UploadedPaths
) -> None:
    folder = Folder(FILES)
    first, (offset, block), *_ = folder.pieces
    folder.send(api, *first)
    for content in (block, b""):
        early = folder.send(api, offset, content, Upload_Length=offset + len(content))
        assert (early.status_code, early.json()["code"]) == (422, "invalid_manifest")
    assert not DataSnapshot.objects.exists()
    assert not paths.folder(vision.pk, folder.digest).exists()


def test_what_is_all_here_is_completed_by_whoever_asks_next(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(FILES)
    with monkeypatch.context() as patch:
        patch.setattr(DataUpload, "complete", lambda _self, _actor: None)  # it is ended before
        assert folder.send_all(api).json()["received"] == folder.length
    assert folder.send(api, folder.length, b"").json()["is_complete"]


def test_a_team_has_so_many_names_and_no_more(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_UPLOADS", 1)
    folder = Folder(FILES)
    folder.send_all(api)
    assert name(api, folder).status_code == 201
    refused = name(api, folder, "others")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_sources")
    assert name(api, folder).status_code == 200


def test_files_that_went_meanwhile_are_sent_again(
    api: APIClient, vision: Team, paths: UploadedPaths
) -> None:
    folder = Folder(FILES)
    first, second, *_ = folder.pieces
    folder.send(api, *first)
    (paths.uploads(vision.pk) / folder.digest).rmdir()
    assert folder.send(api, *second).json()["code"] == "wrong_offset"
    assert folder.send_all(api).status_code == 201


def test_a_folder_of_empty_files_is_one_too(api: APIClient) -> None:
    folder = Folder({"a": b"", "b": b""})
    assert folder.send_all(api).json()["is_complete"]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (b"", "There are no files"),
        (b"f 1 a", "last line has no end"),
        (b"f 1 a\n", "not as many as due"),
        (b"f 01 a\n", "no list of files"),
        (b"f -1 a\n", "no list of files"),
        (b"l 1 a\n", "no list of files"),
        (b"b " + b"0" * 64 + b"\nf 0 a\n", "no list of files"),
        (b"f 0 b\nf 0 a\n", "not in the order"),
        (b"f 0 a\nf 0 a\n", "there twice"),
        (b"f 0 ../a\n", "cannot be a file"),
        (b"f 0 /etc/passwd\n", "cannot be a file"),
        (b"f 0 a/./b\n", "cannot be a file"),
        (b"f 0 a\0b\n", "cannot be a file"),
        (b"f 0 a\nf 0 a/b\n", "would be a file and"),
        (b"f 0 " + b"a/" * 60 + b"b\n", "too deep"),
        (b"f 0 \xff\n", "not UTF-8"),
        (b"f 1001 a\n", "may have"),
        (b"f 0 a\n" * 100_100, "Pack files into larger"),
    ],
)
def test_what_is_no_manifest_is_refused(manifest: bytes, said: str) -> None:
    with pytest.raises(ManifestInvalid, match=said):
        Manifest.of(manifest, most_bytes=1000)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: {"content": b"concertina data 2" + folder.head[17:]},
        lambda folder: {"content": folder.head[:10]},
        lambda folder: {"content": folder.head.replace(b"a/one", b"a/two")},
        lambda folder: {"content": folder.head, "Upload_Length": folder.length + 1},
        lambda folder: {"content": folder.head, "Upload_Length": 10},
        lambda folder: {"content": folder.head + folder.content[:4]},
        lambda _: {"content": b""},
    ],
)
def test_what_begins_wrong_leaves_nothing(
    api: APIClient,
    vision: Team,
    paths: UploadedPaths,
    change: Callable[[Folder], dict[str, Any]],
) -> None:
    folder = Folder(FILES)
    assert folder.send(api, 0, **change(folder)).status_code == 422
    assert under_way(paths, vision) == []


def test_a_team_keeps_so_much_and_no_more(api: APIClient, settings: Settings) -> None:
    half = Folder({"a": b"1" * 10})
    limits = DataLimits(most_bytes=1000, team_bytes=half.length + 4096 + 10, team_uploads=2)
    settings.CONCERTINA = replace(settings.CONCERTINA, data_limits=limits)
    assert half.send_all(api).status_code == 201
    more = Folder({"b": b"1" * 20})
    refused = more.send(api, *more.pieces[0])
    assert (refused.status_code, refused.json()["code"]) == (409, "too_much_data")


def test_only_so_many_are_under_way(api: APIClient) -> None:
    for number in range(3):
        folder = Folder({"a": b"%d" % number})
        answer = folder.send(api, *folder.pieces[0])
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_uploads")


def test_a_job_keeps_its_version_when_the_next_comes(
    api: APIClient, vision: Team, paths: UploadedPaths, submit: SubmitJob, settings: Settings
) -> None:
    old, new = Folder({"a": b"old"}), Folder({"a": b"new"})
    old.send_all(api)
    name(api, old)
    job = submit(name="trains", data=[{"source": "digits"}])
    assert job.data_versions == {"digits": old.digest}
    new.send_all(api)
    assert name(api, new).status_code == 200, "live jobs do not see it"
    other = submit(name="later", data=[{"source": "digits"}])
    rules = settings.CONCERTINA.data_rules
    for one, content in ((job, "old"), (other, "new")):
        version = one.data_versions["digits"]
        seen = sources.folder_for(vision, "digits", version=version, is_writing=False, rules=rules)
        assert (seen / "a").read_text() == content
    DataSnapshot.objects.update(used_at=timezone.now() - KEPT_UNUSED - timedelta(hours=1))
    assert not data_without_users(DataSnapshot.objects.all()).exists()
    Job.objects.update(state=JobState.COMPLETED)
    (unused,) = data_without_users(DataSnapshot.objects.all())
    assert unused.digest == old.digest
    removed = remove_unused(paths, DataSnapshot.objects.all(), data_without_users, lambda _: None)
    assert (removed, DataSnapshot.objects.get().digest) == (1, new.digest)


def test_files_that_are_equal_in_two_versions_outlive_either_of_them(
    api: APIClient, vision: Team, paths: UploadedPaths, settings: Settings
) -> None:
    old, new = Folder({"a": b"old", "same": b"x" * 9}), Folder({"a": b"new!", "same": b"x" * 9})
    for one in (old, new):
        assert one.send_all(api).status_code == 201
        assert name(api, one).status_code in {200, 201}
    assert DataSnapshot.objects.count() == 2
    rules = settings.CONCERTINA.data_rules
    DataSnapshot.objects.update(used_at=timezone.now() - KEPT_UNUSED - timedelta(hours=1))
    remove_unused(paths, DataSnapshot.objects.all(), data_without_users, shutil.rmtree)
    seen = sources.folder_for(vision, "digits", version=new.digest, is_writing=False, rules=rules)
    assert {path.name: path.read_bytes() for path in seen.iterdir()} == {
        "a": b"new!",
        "same": b"x" * 9,
    }
    assert DataSnapshot.objects.get().digest == new.digest


def test_what_is_not_uploaded_or_of_others_is_no_source(
    api: APIClient, foreign_api: APIClient
) -> None:
    folder = Folder(FILES)
    refused = name(api, folder)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_source")
    assert folder.send_all(api).status_code == 201
    assert folder.send(foreign_api, *folder.pieces[0]).status_code == 404
    assert name(foreign_api, folder, "mine", "language").json()["code"] == "invalid_source"
    assert name(api, folder, "ours", "vision", "language").status_code == 403
    assert name(api, folder).status_code == 201
    taken = name(foreign_api, folder, "digits", "language")
    assert (taken.status_code, "such as language-digits" in taken.json()["message"]) == (403, True)
    theirs = foreign_api.delete("/api/v1/data-sources/digits")
    none = foreign_api.delete("/api/v1/data-sources/none")
    assert (theirs.status_code, none.status_code) == (404, 404)
    assert api.delete("/api/v1/data-sources/digits").status_code == 204
    assert not DataSource.objects.exists()
