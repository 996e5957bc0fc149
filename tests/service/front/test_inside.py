"""Is `/internal/` nothing for whoever comes through a proxy, but for networks that are named?"""

from __future__ import annotations

import asyncio

import pytest
from cluster.variables import BadEnvironment, EnvironmentVariables
from control_plane.configuration import limit_settings
from control_plane.front.callers import Callers
from control_plane.front.proxies.inside import OnlyFromInside

from tests.service.front.asking import Recorder, ask

SYNC = "/internal/v1/jobs/abc/sync"
NETWORKS = "10.0.0.0/24, fd00:1::/48"


def status(path: str, *, proxies: int = 1, networks: str = "", **headers: str) -> int:
    told = {"CONCERTINA_INTERNAL_NETWORKS": networks}
    callers = Callers(session_cookie="s", proxies=proxies, job_opened_by=lambda *_: None)
    front = OnlyFromInside(
        Recorder(),
        address_of=callers.address,
        is_proxy_believed=bool(proxies),
        networks=limit_settings.read(EnvironmentVariables(told)).internal_networks,
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(ask(front, "POST", path, headers=named)).status


@pytest.mark.parametrize(
    "mark",
    [
        {"X_Forwarded_For": "10.0.0.7"},
        {"X_Forwarded_Proto": "https"},
        {"X_Real_IP": "10.0.0.7"},
        {"Forwarded": "for=10.0.0.7"},
        {"Via": "1.1 proxy"},
    ],
)
def test_what_a_proxy_hands_on_finds_nothing_there(mark: dict[str, str]) -> None:
    assert status(SYNC, **mark) == 404
    assert status("/api/v1/jobs", **mark) == 200


def test_who_comes_without_a_proxy_is_let_in() -> None:
    assert status(SYNC) == 200


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("10.0.0.7", 200),
        ("10.0.1.7", 404),
        ("203.0.113.9, 10.0.0.7", 200),
        ("10.0.0.7, 203.0.113.9", 404),  # what a client made up comes first
        ("fd00:1::5", 200),
        ("fd00:2::5", 404),
        ("nonsense", 404),
    ],
)
def test_coordinators_of_named_networks_come_through_the_proxy(address: str, told: int) -> None:
    assert status(SYNC, networks=NETWORKS, X_Forwarded_For=address) == told


def test_a_proxy_that_is_not_believed_cannot_say_where_somebody_comes_from() -> None:
    assert status(SYNC, proxies=0, networks=NETWORKS, X_Forwarded_For="10.0.0.7") == 404


def test_a_network_that_is_none_is_named_with_what_to_do() -> None:
    with pytest.raises(BadEnvironment, match=r"NETWORKS='10\.0\.0\.1/8'.*10\.0\.0\.0"):
        limit_settings.read(EnvironmentVariables({"CONCERTINA_INTERNAL_NETWORKS": "10.0.0.1/8"}))
