"""From whom is a header believed that says who somebody is? From listed addresses, and once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from ipaddress import ip_network

import pytest
from cluster.variables import BadEnvironment, EnvironmentVariables
from control_plane.configuration import proxy_settings
from control_plane.front.proxies.vouching import VOUCHED, VouchedHeaders
from django.contrib.auth.models import User
from django.test import Client
from tenancy.single_sign_on.terms import ProxyTerms

from tests.service.front.asking import Recorder, scope_of
from tests.service.single_sign_on.conftest import who

TERMS = ProxyTerms(
    networks=(ip_network("10.0.0.0/24"), ip_network("2001:db8::/64")),
    user_header="x-user",
    groups_header="x-groups",
)
HEADERS = {"X-User": "ada", "X-Groups": "ml", "Accept": "*/*"}


def passed_on(
    address: str | None,
    *more: tuple[bytes, bytes],
    terms: ProxyTerms | None = TERMS,
    headers: Mapping[str, str] = HEADERS,
) -> tuple[dict[str, str] | None, set[bytes]]:
    """What is noted of a request, and which headers go on."""
    recorder = Recorder()
    scope = scope_of("GET", "/", headers, address or "")
    scope["headers"] = [*scope["headers"], *more]
    if address is None:
        scope["client"] = None

    async def nothing() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def drop(_: object) -> None: ...

    asyncio.run(VouchedHeaders(recorder, terms=terms)(scope, nothing, drop))
    (seen,) = recorder.scopes
    return seen.get(VOUCHED), {name for name, _ in seen["headers"]}


@pytest.mark.parametrize("address", ["10.0.0.7", "::ffff:10.0.0.7", "2001:db8::1"])
def test_a_listed_proxy_is_believed_and_its_headers_go_no_further(address: str) -> None:
    noted, names = passed_on(address)
    assert noted == {"x-user": "ada", "x-groups": "ml"}
    assert names == {b"host", b"accept"}


@pytest.mark.parametrize("address", ["10.0.1.7", "127.0.0.1", "2001:db9::1", "somewhere", None])
def test_from_anywhere_else_headers_are_removed_and_count_for_nothing(address: str | None) -> None:
    forwarded = (b"x-forwarded-for", b"10.0.0.7")
    noted, names = passed_on(address, forwarded, (b"x_user", b"root"))
    assert noted is None
    assert names == {b"host", b"accept", b"x-forwarded-for"}


@pytest.mark.parametrize("name", [b"x-user", b"X-User", b"x_user"])
def test_what_a_client_sends_beside_the_proxy_makes_all_of_it_worthless(name: bytes) -> None:
    noted, names = passed_on("10.0.0.7", (name, b"root"))
    assert noted == {}
    assert names == {b"host", b"accept"}


@pytest.mark.parametrize(("name", "other"), [("X_User", "X-Groups"), ("X_Groups", "X-User")])
def test_what_a_client_writes_otherwise_is_not_taken_for_what_the_proxy_left_out(
    name: str, other: str
) -> None:
    noted, names = passed_on("10.0.0.7", headers={name: "root", other: "ada"})
    assert noted == {}
    assert names == {b"host"}


def test_names_that_are_no_text_are_nobody_rather_than_all_the_same_person() -> None:
    assert passed_on("10.0.0.7", headers={"X-User": "jos\u00e9"})[0] == {"x-user": "jos\u00e9"}
    for name in (b"jos\xe9", b"jos\xe8"):
        assert passed_on("10.0.0.7", (b"x-user", name), headers={})[0] == {}


def test_without_proxies_nothing_is_noted() -> None:
    assert passed_on("10.0.0.7", terms=None)[0] is None


def test_a_session_by_a_proxy_ends_when_no_proxy_is_set_up_any_more(
    client: Client, db: None
) -> None:
    client.force_login(User.objects.create_user("ada"))
    assert who(client) == "ada"
    session = client.session
    session["concertina_vouched_by_proxy"] = "ada"
    session.save()
    assert who(client) is None


WHOLE = {
    "USER_HEADER": "X-User",
    "ADDRESSES": "10.0.0.7, 10.1.0.0/24",
    "GROUPS_HEADER": "X-Groups",
    "GROUPS": "ml=a:lead",
}


def read(**changes: str) -> ProxyTerms | None:
    environ = {f"CONCERTINA_PROXY_{name}": value for name, value in (WHOLE | changes).items()}
    return proxy_settings.read(EnvironmentVariables(environ))


def test_settings_are_read() -> None:
    terms = read()
    assert terms is not None
    assert (terms.user_header, len(terms.networks)) == ("x-user", 2)
    assert proxy_settings.read(EnvironmentVariables({})) is None
    assert read(USER_HEADER="X-Forwarded-User") is not None  # as oauth2-proxy may call it


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ADDRESSES": ""}, "set both"),
        ({"USER_HEADER": ""}, "set both"),
        ({"USER_HEADER": "Cookie"}, "a header of its own"),
        ({"USER_HEADER": "Content-Type"}, "a header of its own"),
        ({"GROUPS_HEADER": "X-Forwarded-Proto"}, "a header of its own"),
        ({"USER_HEADER": "X User"}, "a header of its own"),
        ({"GROUPS_HEADER": "x-user"}, "the same header"),
        ({"ADDRESSES": "0.0.0.0/0"}, "can say to be anybody"),
        ({"ADDRESSES": "::/0"}, "can say to be anybody"),
        ({"ADDRESSES": "proxy.example"}, "addresses or networks"),
        ({"GROUPS": ""}, "nobody could sign in"),
        ({"GROUPS_HEADER": ""}, "GROUPS_HEADER is not"),
        ({"GROUPS_HEADER": "", "GROUPS": "", "ADMIN_GROUP": "root"}, "GROUPS_HEADER is not"),
        ({"ADMITS": "example.com"}, "MAIL_HEADER is not"),
        ({"USER_HEADER": "", "ADDRESSES": ""}, "ADDRESSES is not"),
    ],
)
def test_what_does_not_fit_stops_the_start(changes: dict[str, str], told: str) -> None:
    with pytest.raises(BadEnvironment, match=told):
        read(**changes)
