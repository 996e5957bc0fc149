"""Whom may a job call through its gate? Hosts and ports that an admin has listed for its team.

A name means the addresses that it has when it is called, and the call goes to one of these. An
exact name or address is the admin's word, and may be one of a network of their own. What fits a
pattern, such as `*.example.com`, has to be public: whoever owns the domain says what is in it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

_ANY: Final = "*."
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """Entries as `HOST:PORT`, in small letters; an IPv6 address is in brackets."""

    entries: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read entries with commas between; none of an empty text."""
        return cls(entries=frozenset(entry for entry in text.lower().split(",") if entry))

    def __str__(self) -> str:
        return ", ".join(sorted(self.entries)) or "nobody"

    def lists(self, host: str, port: int) -> bool:
        return self._is_named(host, port) or self._fits_a_pattern(host, port)

    def among(self, addresses: Iterable[str], host: str, port: int) -> list[str]:
        """Return those that may be called by this name, which is listed."""
        is_named = self._is_named(host, port)
        found = [(text, _address(text)) for text in dict.fromkeys(addresses)]
        return [
            text
            for text, one in found
            if one is not None and not _is_never_meant(one) and (is_named or one.is_global)
        ]

    def _is_named(self, host: str, port: int) -> bool:
        return f"{_plain(host)}:{port}" in self.entries

    def _fits_a_pattern(self, host: str, port: int) -> bool:
        if _address(host) is not None:
            return False
        labels = _plain(host).split(".")
        above = (".".join(labels[place:]) for place in range(1, len(labels)))
        return any(f"{_ANY}{domain}:{port}" in self.entries for domain in above)


def _plain(host: str) -> str:
    address = _address(host)
    if address is None:
        return host.lower().rstrip(".")
    return f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 - brackets


def _address(host: str) -> _Address | None:
    """Return the address that this is, that of version 4 if it is one in another dress."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_never_meant(address: _Address) -> bool:
    """The gate's own container, and what tells a machine its credentials."""
    return (
        address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
    )
