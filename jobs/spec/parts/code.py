"""Which code does a job run? A snapshot that was uploaded, or a folder of a git repository.

What is in a repository is fetched by the platform, once for the job's whole life; then the spec
names the snapshot that it became, too. Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

import posixpath
import re
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, StringConstraints, model_validator

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

_LONGEST: Final = 1000
_REF: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._/@+#-]{0,248}[A-Za-z0-9_@+#-])?")


def _check_url(url: str) -> str:
    if not url:
        return url
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as problem:
        raise ValueError(f"is not a URL: {problem} | Write it as https://HOST/PATH.") from problem
    if parts.scheme not in {"https", "http"} or not host:
        raise ValueError(
            "is not the URL of a repository that is fetched over https | Write it as"
            " https://HOST/PATH."
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a password | Put it into a secret of the team, and name that.")
    if parts.query or parts.fragment or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError("has what no repository's URL has | Write it as https://HOST/PATH.")
    return url


def _check_ref(ref: str) -> str:
    if ref and (not _REF.fullmatch(ref) or ".." in ref or "//" in ref or "@{" in ref):
        raise ValueError("is no branch, tag or commit | Name one that the repository has.")
    return ref


def _check_path(path: str) -> str:
    plain = posixpath.normpath(f"/{path}").lstrip("/")
    if path not in {"", ".", plain, f"{plain}/"}:
        raise ValueError(
            f"is not a plain folder of the repository | Write it without . .. and /: {plain}"
        )
    return plain


class CodeOrigin(SpecPart):
    """A folder of a git repository: from which the platform fetches, or whoever packed it says."""

    url: Annotated[str, StringConstraints(max_length=_LONGEST), AfterValidator(_check_url)] = (
        ""  # that the platform fetches from; "": it was uploaded
    )
    ref: Annotated[str, StringConstraints(max_length=250), AfterValidator(_check_ref)] = (
        ""  # a branch, a tag or a commit; "": what the repository calls HEAD
    )
    path: Annotated[
        str,
        StringConstraints(max_length=_LONGEST),
        AfterValidator(check_text),
        AfterValidator(_check_path),
    ] = ""  # the folder that is the code; "": all of it
    secret: Annotated[str, StringConstraints(max_length=40)] = ""  # of the team, for the repository
    commit: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{7,64})?$")] = ""
    branch: Annotated[str, StringConstraints(max_length=250), AfterValidator(check_text)] = ""
    is_changed: bool = False  # beside what is committed
    diff: Annotated[str, StringConstraints(max_length=32_768), AfterValidator(check_text)] = ""


class Code(SpecPart):
    """The folder in which the job's command starts."""

    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    git: CodeOrigin | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.digest is None and (self.git is None or not self.git.url):
            raise ValueError(
                "names no code | Name a snapshot as `digest`, or a repository as `git: {url: …}`."
            )
        if self.digest is not None and self.git is not None and not self.git.commit:
            raise ValueError(
                "names a snapshot and a repository | Leave `digest` out, and it is fetched."
            )
        return self
