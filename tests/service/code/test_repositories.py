"""Does a folder of a git repository become the snapshot that its folder would be?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient
from storage.code.archives import unpack
from storage.code.bounds import CodeBounds
from storage.data.fetcher.orders import FetchResult, Status, UnusableSource
from storage.errors import SnapshotInvalid
from storage.repositories.fetcher.orders import CodeOrder, FetchedCommit
from storage.repositories.fetcher.packing import Objects, TreeEntry, pack
from storage.repositories.workplace import Workplace

from concertina.code.packing import packed
from jobs.models import Job
from tests.git_server import GitServer, git, git_server
from tests.service.conftest import spec

CODE = {
    "train.py": "print('hello')",
    "a": "x",
    "a.py": "y",
    "lib/a/b.py": "z",
    "run.sh": "#!/bin/sh\n",
    "link": None,
    "lib/data.bin": "left out",
    "lib/kept.bin": "kept",
    ".gitignore": "*.bin\n",
    ".concertinaignore": "!kept.bin\n",
    "docs/.gitignore": "/index.html\n",
    "docs/index.html": "left out",
    "docs/pages/index.html": "kept",
    "env/pyvenv.cfg": "left out",
    "lib/__pycache__/x": "left out",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    with git_server(tmp_path_factory.mktemp("repositories")) as found:
        found.first = found.commit("code.git", {**CODE})
        found.commit("code.git", {"train.py": "print('newer')"})
        git(found.folder("code.git"), "tag", "-a", "v1", "-m", "x", found.first)
        git(found.folder("code.git"), "push", "-q", str(found.root / "code.git"), "v1")
        yield found


def fetch(server: GitServer, tmp_path: Path, **more: Any) -> Status:
    """What comes of an order to the program itself."""
    workplace = Workplace(folder=tmp_path)
    order = CodeOrder(
        **{
            "url": server.url("code.git"),
            "folder": str(tmp_path),
            "status": str(workplace.status),
            "networks": (f"127.0.0.1:{server.port}",),
            "most_bytes": 10_000,
            "most_files": 20,
            **more,
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "storage.repositories.fetcher"],
        stdin=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path), "HOME": "/nonexistent", "PATH": os.environ["PATH"]},
    )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(order.dump())
        process.stdin.flush()
        assert process.wait() == 0
    return Status.read(workplace.status)


def uploaded(folder: Path) -> str:
    """The digest of the snapshot that the client makes of a folder."""
    with packed(folder) as code:
        return code.digest


def test_a_commit_is_the_snapshot_that_its_folder_would_be(
    server: GitServer, tmp_path: Path
) -> None:
    found = fetch(server, tmp_path)
    assert (found.result, found.problem) == (FetchResult.DONE, "")
    assert found.version == uploaded(server.folder("code.git"))
    about = FetchedCommit.read(tmp_path / "about")
    assert (about.digest, about.branch) == (found.version, "main")
    assert about.commit == git(server.folder("code.git"), "rev-parse", "HEAD")
    assert (tmp_path / "code" / "train.py").read_text() == "print('newer')"
    assert not (tmp_path / "repository").exists()


@pytest.mark.parametrize(("ref", "branch"), [("v1", "v1"), ("COMMIT", "")])
def test_a_tag_or_a_commit_is_what_it_was_then(
    server: GitServer, tmp_path: Path, ref: str, branch: str
) -> None:
    assert fetch(server, tmp_path, ref=ref.replace("COMMIT", server.first), path="lib").objects == 3
    about = FetchedCommit.read(tmp_path / "about")
    assert (about.commit, about.branch) == (server.first, branch)
    assert (tmp_path / "code" / "a" / "b.py").read_text() == "z"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ref": "nope"}, "has no branch or tag 'nope'. It has main, v1."),
        ({"path": "nope"}, "has no folder 'nope'"),
        ({"path": "a"}, "'a' is no folder in commit"),
        ({"ref": "1" * 40}, "has no commit 1111"),
        ({"most_files": 3}, "has more than 3 files"),
        ({"networks": ()}, "127.0.0.1 is not in CONCERTINA_DATA_NETWORKS"),
    ],
)
def test_what_cannot_be_fetched_is_told(
    server: GitServer, tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    found = fetch(server, tmp_path, **more)
    assert (found.result, said in found.problem) == (FetchResult.FAILED, True), found


TREE = {"mode": 0o40000, "object_id": b"t"}
FILE = {"mode": 0o100644, "object_id": b"f"}


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("a", TREE, "is too deep a folder"),
        ("../x", FILE, "is not a name within the archive"),
        ("/x", FILE, "is not a name within the archive"),
        ("..", FILE, "is not a name within the archive"),
        ("link", {"mode": 0o120000, "object_id": b"/etc"}, "which is not in the archive"),
    ],
)
def test_a_repository_that_no_git_made_is_refused(
    tmp_path: Path, name: str, entry: dict[str, Any], said: str
) -> None:
    bounds = CodeBounds(most_bytes=1000, most_files=10)
    objects = Objects(folder=lambda _: {name: TreeEntry(**entry)}, content=lambda one: one)

    def become_code() -> None:
        pack(objects, b"t", tmp_path / "archive", bounds)
        unpack(tmp_path / "archive", tmp_path / "code", bounds)

    with pytest.raises((UnusableSource, SnapshotInvalid), match=said):
        become_code()


def test_submodules_stay_out(tmp_path: Path) -> None:
    folder = {"a": TreeEntry(**FILE), "sub": TreeEntry(mode=0o160000, object_id=b"s")}
    bounds = CodeBounds()
    pack(Objects(folder=lambda _: folder, content=lambda one: one), b"t", tmp_path / "x", bounds)
    assert unpack(tmp_path / "x", tmp_path / "code", bounds).files == 1


@pytest.mark.parametrize(
    ("git", "field", "said"),
    [
        ({"url": "file:///etc"}, "code.git.url", "is not the URL of a repository"),
        ({"url": "ext::sh -c x"}, "code.git.url", "is not the URL of a repository"),
        ({"url": "git@github.com:x/y"}, "code.git.url", "is not the URL of a repository"),
        ({"url": "https://u:p@example.com/x"}, "code.git.url", "holds a password"),
        ({"url": "https://example.com/x?y"}, "code.git.url", "has what no repository's URL has"),
        ({"url": "https://127.0.0.1/x"}, "code.git.url", "is not to be called: 127.0.0.1"),
        ({"url": "http://example.com/x", "secret": "s"}, "code.git.secret", "is no secret of team"),
        (
            {"url": "https://example.com/x", "ref": "--upload-pack=x"},
            "code.git.ref",
            "is no branch",
        ),
        ({"url": "https://example.com/x", "ref": "a/../b"}, "code.git.ref", "is no branch"),
        (
            {"url": "https://example.com/x", "path": "../x"},
            "code.git.path",
            "is not a plain folder",
        ),
        ({}, "code", "names no code"),
        ({"ref": "main"}, "code", "names no code"),
    ],
)
def test_what_is_no_repository_is_refused(
    api: APIClient, git: dict[str, str], field: str, said: str
) -> None:
    answer = api.post("/api/v1/jobs", spec(code={"git": git}), format="json")
    assert answer.status_code == 422, answer.json()
    (problem,) = answer.json()["details"]
    assert (problem["field"], said in problem["problem"]) == (field, True), problem


def test_a_job_is_submitted_before_its_code_is_there(api: APIClient) -> None:
    git = {"url": "https://example.com/x.git", "ref": "main", "path": "src/"}
    answer = api.post("/api/v1/jobs", spec(code={"git": git}), format="json")
    assert answer.status_code == 201, answer.json()
    job = Job.objects.get()
    assert (job.code, job.resolved_spec["code"]["digest"]) == ("", None)
    assert job.resolved_spec["code"]["git"]["path"] == "src"
    assert api.get(f"/api/v1/jobs/{job.id}/code").status_code == 404


@pytest.mark.parametrize(
    "change",
    [{"digest": "x"}, {"commit": "main"}, {"files": "1"}, {"branch": "a\n"}, {"more": 1}],
)
def test_what_a_fetcher_leaves_is_read_strictly(tmp_path: Path, change: dict[str, Any]) -> None:
    good = {"digest": "0" * 64, "files": 1, "folders": 0, "bytes": 1, "commit": "0" * 40}
    (tmp_path / "about").write_text(json.dumps({**good, "branch": "", **change}))
    with pytest.raises(ValueError, match="is not about code"):
        FetchedCommit.read(tmp_path / "about")
