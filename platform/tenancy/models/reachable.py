"""Which hosts may be listed for a team's jobs, and how is one written? `HOST:PORT`."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from django.core.exceptions import ValidationError

MOST_LISTED: Final = 100  # hosts of a team; guessed: people can still read the list
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"({_LABEL}\.)*{_LABEL}")
_PATTERN: Final = re.compile(rf"\*\.({_LABEL}\.)+{_LABEL}")  # not of all that ends in `.com`
_LONGEST_NAME: Final = 253
_LARGEST_PORT: Final = 65_535


def check_listed(entries: object) -> None:
    """Raises: ValidationError, unless it is a list of hosts with ports, each once."""
    if not isinstance(entries, list) or not all(isinstance(one, str) for one in entries):
        raise ValidationError('Write a list of texts, such as ["pypi.org:443"].')
    if len(entries) > MOST_LISTED:
        raise ValidationError(f"A team may have {MOST_LISTED} hosts, and these are {len(entries)}.")
    for entry in entries:
        host, _, port = entry.rpartition(":")
        is_port = port.isascii() and port.isdecimal() and 0 < int(port[:6]) <= _LARGEST_PORT
        if not (is_port and port[0] != "0" and _is_host(host)):
            raise ValidationError(
                f"{entry[:80]!r} is not a host with a port. Write a name in small letters, a"
                " pattern of names or an address, and its port: pypi.org:443, *.example.com:443,"
                " 10.2.0.7:9000, [2001:db8::1]:443."
            )
    if len(set(entries)) < len(entries):
        raise ValidationError("A host is there twice.")


def _is_host(host: str) -> bool:
    if host.startswith("[") and host.endswith("]"):
        return _is_address(host[1:-1], ipaddress.IPv6Address)
    if re.fullmatch(r"[0-9.]*", host):
        return _is_address(host, ipaddress.IPv4Address)
    is_name = _NAME.fullmatch(host) or _PATTERN.fullmatch(host)
    return is_name is not None and len(host) <= _LONGEST_NAME and host != "localhost"


def _is_address(text: str, kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> bool:
    """True if jobs may call it at all, and it is written as the gate compares it."""
    try:
        found = kind(text)
    except ValueError:
        return False
    is_meant = not (found.is_loopback or found.is_link_local or found.is_multicast)
    return is_meant and not found.is_unspecified and str(found) == text
