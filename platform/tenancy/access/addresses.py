"""Where does a request come from? Of IPv6 a network: who has one address there has 2⁶⁴ of them."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from django.http import HttpRequest

_OF_ONE_SITE: Final = 64  # bits: what a provider gives to one customer at least


def address_of(request: HttpRequest | None) -> str:
    """Return where it comes from, as our proxy says if any; of IPv6 a network of 64 bits."""
    from rest_framework.throttling import BaseThrottle  # noqa: PLC0415 - gunicorn has no Django yet

    if request is None:
        return "nowhere"
    ident: str | None = BaseThrottle().get_ident(request)  # type: ignore[arg-type]  # reads META alone
    return network_of(ident or "nowhere")  # it came through a socket of this machine


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
