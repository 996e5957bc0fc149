"""How does one commit of a repository come here? Over https, without its history.

Every connection of urllib3 is one of Python's, so the guard sees it. Redirects are few, and never
lead from https to http.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import urllib3
from dulwich.client import HttpGitClient, HTTPUnauthorized
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.object_store import tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.repo import Repo

from storage.data.fetcher.orders import FetchError, SourceAway, UnusableSource
from storage.repositories.fetcher.packing import Objects, TreeEntry

_TIMEOUT: Final = urllib3.Timeout(connect=15.0, read=60.0)
_RETRIES: Final = urllib3.Retry(total=6, connect=2, read=1, redirect=5, other=0, status=0)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFUSES: Final = re.compile(r"unexpected http resp 4(?!29)\d\d")
_NAMED: Final = 10  # branches and tags, where the wanted one is not among them
_LONGEST_NAME: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A repository with one commit in it."""

    repository: Repo
    commit: str
    branch: str

    def objects(self) -> Objects:
        return Objects(folder=self._folder, content=self._content)

    def folder(self, path: str) -> bytes:
        """Return the id of a folder of the commit. Raises: UnusableSource, if there is none."""
        root = self._object(self.commit.encode(), Commit).tree
        if not path:
            return bytes(root)
        try:
            mode, found = tree_lookup_path(self._get, root, path.encode())
        except (KeyError, NotGitRepository, ValueError) as problem:
            raise UnusableSource(f"Commit {self.commit[:10]} has no folder {path!r}.") from problem
        if not stat.S_ISDIR(mode):
            raise UnusableSource(f"{path!r} is no folder in commit {self.commit[:10]}.")
        return bytes(found)

    def _get(self, object_id: bytes) -> Any:
        return self.repository.object_store[ObjectID(object_id)]

    def _object(self, object_id: bytes, kind: type[Any]) -> Any:
        try:
            found = self._get(object_id)
        except KeyError as problem:
            raise UnusableSource("The repository does not send all of the commit.") from problem
        if not isinstance(found, kind):
            raise UnusableSource("The repository sends something else than it says.")
        return found

    def _content(self, object_id: bytes) -> bytes:
        return bytes(self._object(object_id, Blob).data)

    def _folder(self, object_id: bytes) -> Mapping[str, TreeEntry]:
        found: dict[str, TreeEntry] = {}
        for entry in self._object(object_id, Tree).iteritems():
            try:
                name = entry.path.decode()
            except UnicodeDecodeError as problem:
                raise UnusableSource(f"{entry.path[:80]!r} is no name of a file.") from problem
            if name in found:
                raise UnusableSource(f"{name[:80]!r} is in its folder twice.")
            found[name] = TreeEntry(mode=entry.mode, object_id=bytes(entry.sha))
        return found


def clone(url: str, ref: str, into: Path, credential: Mapping[str, str]) -> Clone:
    """Fetch the commit that a ref means now.

    Raises:
        SourceAway: the repository does not answer.
        UnusableSource: it has no such ref, or refuses it.
    """
    password = credential.get("GIT_PASSWORD")
    client: Any = HttpGitClient(
        url,
        pool_manager=_Pool(encrypted=url.startswith("https:")),
        username=credential.get("GIT_USERNAME", "git") if password else None,
        password=password,
        quiet=True,
    )
    repository = Repo.init_bare(into, mkdir=True)
    chosen: list[tuple[bytes, str]] = []

    def wants(refs: Mapping[bytes, bytes], depth: int | None = None) -> Sequence[bytes]:  # noqa: ARG001 - dulwich's
        chosen.append(_chosen(refs, ref))
        return [chosen[0][0]]

    try:
        result = client.fetch("", repository, determine_wants=wants, depth=1)
    except HTTPUnauthorized as problem:
        raise UnusableSource(
            "The repository asks who we are. Name a secret of the team as code.git.secret, with"
            " GIT_PASSWORD."
        ) from problem
    except NotGitRepository as problem:
        raise UnusableSource(f"There is no repository at {url}.") from problem
    except (GitProtocolError, urllib3.exceptions.HTTPError, EOFError) as problem:
        raise _told(problem, ref, knew_refs=bool(chosen)) from problem
    except (AssertionError, KeyError, ValueError, TypeError) as problem:
        raise UnusableSource(
            f"The repository sends what git does not: {_short(problem)}"
        ) from problem
    object_id, branch = chosen[0]
    head = (result.symrefs or {}).get(b"HEAD", b"").removeprefix(b"refs/heads/")
    main = "".join(one if one.isprintable() else "?" for one in head.decode(errors="replace"))
    return Clone(
        repository=repository,
        commit=_peeled(repository, object_id).decode(),
        branch="" if _is_commit(ref) else (branch or main)[:_LONGEST_NAME],
    )


def _told(problem: Exception, ref: str, *, knew_refs: bool) -> FetchError:
    """Say what a server means that answers as git does, and not with a commit."""
    said = _short(
        getattr(problem.__cause__, "reason", None) or problem
    )  # not how often it was tried
    said = re.sub(r"^HTTPS?Connection\(.*?\): ", "", said)
    hangs_up = isinstance(problem, HangupException) and knew_refs and _is_commit(ref)
    if "not our ref" in said or hangs_up:  # git's own server has no words for it
        return UnusableSource(
            f"The repository has no commit {ref}, or hands none out by its number. Name a branch or"
            " a tag."
        )
    if _REFUSES.search(said):
        return UnusableSource(f"The repository refuses us: {said}. Check the URL and the secret.")
    return SourceAway(f"The repository does not answer well: {said}")


class _Pool(urllib3.PoolManager):
    """Never goes on without encryption where it began with it."""

    def __init__(self, *, encrypted: bool) -> None:
        super().__init__(
            timeout=_TIMEOUT, retries=_RETRIES, headers={"User-Agent": "git/concertina"}
        )
        self._is_encrypted = encrypted

    def urlopen(self, method: str, url: str, redirect: bool = True, **more: Any) -> Any:  # type: ignore[override]  # noqa: FBT001, FBT002 - urllib3's
        if self._is_encrypted and not url.startswith("https:"):
            raise UnusableSource("The repository leads from https to http.")
        return super().urlopen(method, url, redirect=redirect, **more)


def _chosen(refs: Mapping[bytes, bytes], ref: str) -> tuple[bytes, str]:
    """Return the object that a ref means, and its name as a branch or tag."""
    if _is_commit(ref):
        return ref.encode(), ""
    names = [b"HEAD"] if not ref else [f"refs/{kind}/{ref}".encode() for kind in ("heads", "tags")]
    if ref.startswith("refs/"):
        names.append(ref.encode())
    for name in names:
        if found := refs.get(name):
            return found, ref
    there = sorted(
        name.decode(errors="replace").split("/", 2)[2]
        for name in refs
        if name.startswith((b"refs/heads/", b"refs/tags/")) and not name.endswith(b"^{}")
    )
    more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
    known = f" It has {', '.join(there[:_NAMED])}{more}." if there else " It is empty."
    raise UnusableSource(f"The repository has no branch or tag {ref or 'HEAD'!r}.{known}")


def _is_commit(ref: str) -> bool:
    return _COMMIT.fullmatch(ref) is not None


def _peeled(repository: Repo, object_id: bytes) -> bytes:
    """Return the commit that a tag names."""
    for _ in range(5):
        try:
            found: Any = repository.object_store[ObjectID(object_id)]
        except KeyError as problem:
            raise UnusableSource("The repository does not send the commit.") from problem
        if isinstance(found, Commit):
            return bytes(found.id)
        if not isinstance(found, Tag):
            break
        object_id = found.object[1]
    raise UnusableSource("That is no commit.")


def _short(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:300] or type(problem).__name__
