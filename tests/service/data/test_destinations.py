"""Where may a fetcher connect to? Wherever a redirect or a name leads, these are the rules."""

from __future__ import annotations

import pytest
from storage.data.destinations import Destination, Reach


def reach(*listed: str, own: tuple[tuple[str, int], ...] = (), is_public: bool = True) -> Reach:
    return Reach(listed=tuple(map(Destination.parse, listed)), own=own, is_public=is_public)


@pytest.mark.parametrize("host", ["8.8.8.8", "2600::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_stores(host: str) -> None:
    assert reach().why_not(host, 443) == ""


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::"),  # noqa: S104 - nobody binds to it
        *("10.1.2.3", "172.17.0.1", "192.168.1.1", "100.64.0.1", "fd12::1"),
        *("169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"),
        *("100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("::127.0.0.1", "::10.0.0.1", "64:ff9b:1::a00:1", "fec0::1", "fe80::ffff"),
        *("255.255.255.255", "localhost", "", "0x7f000001"),
    ],
)
def test_what_is_not_public_is_refused(host: str) -> None:
    assert reach().why_not(host, 443)


def test_networks_of_an_installation_are_let_in() -> None:
    allowed = reach("10.2.0.0/16", "192.168.0.7:9000", "[fd12::7]:9000")
    assert not allowed.why_not("10.2.3.4", 443)
    assert not allowed.why_not("192.168.0.7", 9000)
    assert not allowed.why_not("fd12::7", 9000)
    for host, port in (("10.3.0.1", 443), ("192.168.0.7", 5432), ("192.168.0.8", 9000)):
        assert allowed.why_not(host, port)


def test_metadata_and_the_service_itself_are_refused_whatever_is_let_in() -> None:
    allowed = reach("0.0.0.0/0", "::/0", own=(("10.0.0.5", 5432),))
    assert not allowed.why_not("10.0.0.5", 443)
    assert allowed.why_not("10.0.0.5", 5432)
    assert allowed.why_not("::ffff:10.0.0.5", 5432)
    assert allowed.why_not("169.254.169.254", 80)


def test_where_the_service_is_nothing_is_a_store_unless_it_is_let_in() -> None:
    public = (("8.8.8.8", 5432),)
    assert "the service is there" in reach(own=public).why_not("8.8.8.8", 2375)
    assert not reach("8.8.8.8:9000", own=public).why_not("8.8.8.8", 9000)


def test_what_is_not_encrypted_goes_to_let_in_networks_alone() -> None:
    allowed = reach("10.2.0.0/16", is_public=False)
    assert not allowed.why_not("10.2.3.4", 80)
    assert "http is not encrypted" in allowed.why_not("8.8.8.8", 80)


@pytest.mark.parametrize("text", ["10.0.0.1/8", "example.com", "10.0.0.1:0", "10.0.0.1:99999", ""])
def test_destinations_are_networks(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Destination.parse(text)


@pytest.mark.parametrize("text", ["10.2.0.0/16", "10.2.0.7:9000", "[fd12::7]:9000"])
def test_a_destination_is_written_as_it_is_read(text: str) -> None:
    assert str(Destination.parse(text)) == text
