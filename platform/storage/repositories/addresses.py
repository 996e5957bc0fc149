"""Which repository is not to be called, as far as its URL tells? A fetcher looks at the rest."""

from __future__ import annotations

from urllib.parse import urlsplit

from storage.data.destinations import Reach, host_of
from storage.data.rules import DataRules


def why_not(url: str, rules: DataRules) -> str:
    """Return why nothing is fetched from there; empty: a fetcher may try."""
    parts = urlsplit(url)
    host, is_encrypted = parts.hostname or "", parts.scheme == "https"
    if host_of(host) is None:
        return ""
    reach = Reach(listed=rules.networks, is_public=is_encrypted)
    return reach.why_not(host, parts.port or (443 if is_encrypted else 80))
