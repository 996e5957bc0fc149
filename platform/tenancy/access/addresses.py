"""Which network does an address stand for? Whoever has one IPv6 address has 2⁶⁴ of them."""

from __future__ import annotations

import ipaddress
from typing import Final

_OF_ONE_SITE: Final = 64  # bits: what a provider gives to one customer at least


def network_of(text: str) -> str:
    """Return the address, of IPv6 its network; anything that is not an address is unchanged."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), _OF_ONE_SITE), strict=False))
