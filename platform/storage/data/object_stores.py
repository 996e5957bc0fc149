"""What is a source in an object store? A URL and, if it takes one, a secret of a team.

It is fetched by the platform into its cache (`storage.data.cache`), never by a job, and jobs only
read it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from storage.data.cache.paths import CachePaths
from storage.data.cache.room import Key
from storage.data.destinations import Reach, host_of
from storage.data.rules import DataRules
from storage.errors import SourceInvalid

SCHEMES: Final = ("s3", "gs", "az", "https", "http")
CREDENTIALS: Final = (  # variables of a secret that are of use; a fetcher is told no others
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "GOOGLE_SERVICE_ACCOUNT",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "HTTP_BEARER_TOKEN",
)
_WITH_ENDPOINT: Final = ("s3://", "gs://", "az://")
_LONGEST: Final = 1000  # characters
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")


class ObjectStoreKind:
    """Its place is `url`, and perhaps `endpoint`, `secret` and the `team` whose secret that is."""

    is_fetched = True
    may_be_written = False

    def checked(self, place: Mapping[str, str], rules: DataRules) -> dict[str, str]:
        url = place.get("url", "")
        _check_url(url, SCHEMES, rules)
        if endpoint := place.get("endpoint", ""):
            _check_url(endpoint, ("https", "http"), rules)
            if not url.startswith(_WITH_ENDPOINT):
                raise SourceInvalid(f"{urlsplit(url).scheme}:// has no endpoint. Leave it out.")
        kept = ("url", "endpoint", "secret", "team")
        return {name: place[name] for name in kept if place.get(name)}

    def folder(self, place: Mapping[str, str], rules: DataRules, key: Key) -> Path:  # noqa: ARG002 - the port's
        folder = CachePaths(state_dir=rules.state_dir).folder(*key)
        if not key[1] or not folder.is_dir():
            raise SourceInvalid("It is not in the cache. Submit the job again.")
        return folder

    def overlaps(self, place: Mapping[str, str], other: Mapping[str, str]) -> bool:  # noqa: ARG002 - the port's
        return False

    def version(self, place: Mapping[str, str]) -> str:  # noqa: ARG002 - the port's
        return ""

    def stays(self, kept: Mapping[str, str], place: Mapping[str, str]) -> bool:
        return kept == place


def _check_url(url: str, schemes: tuple[str, ...], rules: DataRules) -> None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as problem:
        raise SourceInvalid(f"{url[:80]!r} is not a URL: {problem}.") from problem
    if parts.scheme not in schemes or not host:
        raise SourceInvalid(
            f"{url[:80]!r} is not the URL of a store. Begin it with one of"
            f" {', '.join(f'{one}://' for one in schemes)}"
        )
    if len(url) > _LONGEST or not url.isprintable() or " " in url or "\\" in url:
        raise SourceInvalid(f"{url[:80]!r} is too long, or has characters that a URL has not.")
    if parts.username is not None or parts.password is not None:
        raise SourceInvalid("A URL may not hold a password. Put it into a secret, and name that.")
    if parts.query or parts.fragment:
        raise SourceInvalid(
            f"{url[:80]!r} has a ? or a #. Name an object, or what they begin with."
        )
    if parts.scheme in {"http", "https"}:
        _check_host(host, port or (443 if parts.scheme == "https" else 80), parts.scheme, rules)
    elif not _BUCKET.fullmatch(parts.netloc):
        raise SourceInvalid(f"{parts.netloc[:80]!r} is not the name of a bucket.")


def _check_host(host: str, port: int, scheme: str, rules: DataRules) -> None:
    """Tell early what a fetcher will refuse. What a name means, only that can tell."""
    reach = Reach(listed=rules.networks, is_public=scheme == "https")
    if host_of(host) is not None and (why := reach.why_not(host, port)):
        raise SourceInvalid(f"Nothing may be fetched from there: {why}.")
