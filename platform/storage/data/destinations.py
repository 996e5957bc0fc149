"""Which addresses may be called for somebody? Public ones, and those that an installation names.

It is asked with the address of each connection, after names were looked up: a redirect, or a name
that means another address the second time, is a connection like any other.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NEVER: Final[tuple[Network, ...]] = (  # clouds tell machines who they are there, with credentials
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("fe80::/10"),
    ipaddress.ip_network("fd00:ec2::/32"),  # AWS
    ipaddress.ip_network("100.100.100.200/32"),  # Alibaba
    ipaddress.ip_network("192.0.0.192/32"),  # Oracle
    ipaddress.ip_network("168.63.129.16/32"),  # Azure
)
_IPV4_WITHIN: Final = (  # in its last four bytes
    ipaddress.IPv6Network("64:ff9b::/96"),  # NAT64
    ipaddress.IPv6Network("::/96"),  # nobody uses it any more, but for the two below
)
_NO_IPV4_WITHIN: Final = (ipaddress.IPv6Address("::"), ipaddress.IPv6Address("::1"))
_NOT_PUBLIC: Final[tuple[Network, ...]] = (  # whatever this release of Python knows of them
    ipaddress.ip_network("64:ff9b:1::/48"),  # NAT64 of a site
    ipaddress.ip_network("fec0::/10"),  # addresses of a site
)
_WITH_PORT: Final = re.compile(r"(?P<host>[0-9.]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A network, or one port of an address."""

    network: Network
    port: int | None = None  # None: each

    @classmethod
    def parse(cls, text: str) -> Destination:
        """Read `10.2.0.0/16`, `10.2.0.7`, `10.2.0.7:9000` or `[fd12::7]:9000`.

        Raises:
            ValueError: it is none of these.
        """
        if (found := _WITH_PORT.fullmatch(text)) is None:
            return cls(network=ipaddress.ip_network(text))
        port = int(found["port"])
        if not 0 < port < 1 << 16:
            raise ValueError(f"{port} is not a port")
        return cls(network=ipaddress.ip_network(found["host"].strip("[]")), port=port)

    def __str__(self) -> str:
        if self.port is None:
            return str(self.network)
        host = self.network.network_address
        return f"[{host}]:{self.port}" if host.version == 6 else f"{host}:{self.port}"  # noqa: PLR2004

    def covers(self, address: Address, port: int) -> bool:
        return address in self.network and self.port in {None, port}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where one fetcher, or whoever sends to webhooks, may connect to."""

    listed: tuple[Destination, ...] = ()  # networks of its own that an installation lets in
    own: Collection[tuple[str, int]] = ()  # addresses of the service itself: never
    is_public: bool = True  # False: only what is listed, for what travels unencrypted
    setting: str = "CONCERTINA_DATA_NETWORKS"  # which lists them

    def why_not(self, host: str, port: int) -> str:
        """Return why nothing may connect there; empty: it may."""
        try:
            address = _plain(ipaddress.ip_address(host.partition("%")[0]))
        except ValueError:
            return f"{host} is not an address"
        if any(address in network for network in _NEVER) or address.is_multicast:
            return f"{address} is nobody's: it is link-local, or tells of machines"
        own_ports = {at for own, at in self.own if host_of(own) == address}
        if port in own_ports:
            return f"{address}:{port} is the service's own"
        if any(one.covers(address, port) for one in self.listed):
            return ""
        why = "the service is there" if own_ports else self._why_not_public(address)
        return why and f"{address} is not in {self.setting}, and {why}"

    def _why_not_public(self, address: Address) -> str:
        if not self.is_public:
            return "http is not encrypted"
        is_private = not address.is_global or any(address in one for one in _NOT_PUBLIC)
        return "is private" if is_private else ""


def host_of(text: str) -> Address | None:
    """Return the address that this is, as `Reach` compares it; None: it is a name."""
    try:
        return _plain(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def _plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address not in _NO_IPV4_WITHIN and any(address in one for one in _IPV4_WITHIN):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    within = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or within or address
