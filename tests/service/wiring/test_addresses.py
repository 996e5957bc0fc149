"""What is at addresses beside the API's own: errors, health, the dashboard, headers?"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from control_plane.asgi import application
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/", "/api", "/api/v2/jobs", "/internal/x", "/api/v1/jobs/"]
)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_address_answers_with_the_envelope(path: str, method: str) -> None:
    api = APIClient(enforce_csrf_checks=True)  # as a real server does
    answer = getattr(api, method)(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"code", "message", "details"}
    assert answer.json()["code"] == "not_found"


def test_health_tells_what_works(db: None) -> None:
    answer = APIClient().get("/api/v1/health")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "database": True,
        "redis": True,
        "control_loop_seconds_ago": None,
        "plans": {"are_applied": True, "since": None, "message": "", "jobs_left_out": 0},
    }


def test_health_without_redis_is_not_ok(db: None, settings: Settings) -> None:
    settings.CONCERTINA = replace(settings.CONCERTINA, redis_url="unix:///nowhere.sock")
    answer = APIClient().get("/api/v1/health")
    assert answer.status_code == 503
    assert (answer.json()["database"], answer.json()["redis"]) == (True, False)


def test_without_the_database_the_api_says_try_again(api: APIClient) -> None:
    with connection.execute_wrapper(_gone):
        answer = api.get("/api/v1/jobs")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "2"


def _gone(*_: object) -> None:
    raise OperationalError("server closed the connection unexpectedly")


def test_a_defect_of_ours_answers_with_the_envelope(api: APIClient) -> None:
    api.raise_request_exception = False
    with connection.execute_wrapper(_defect):
        answer = api.get("/api/v1/jobs")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")


def _defect(*_: object) -> None:
    raise RuntimeError("not an error of the database")


@pytest.mark.parametrize("path", ["/", "/jobs/abc", "/teams/vision"])
def test_the_dashboards_page_is_at_every_other_address(
    path: str, tmp_path: Path, settings: Settings
) -> None:
    settings.DASHBOARD_DIR = tmp_path
    assert b"not built" in Client().get(path).content
    (tmp_path / "index.html").write_text("<title>the dashboard</title>")
    answer = Client().get(path)
    assert b"the dashboard" in answer.content
    assert answer.headers["Cache-Control"] == "no-cache"
    assert Client().post(path).status_code == 405


def test_pages_may_load_from_their_own_origin_only() -> None:
    headers = Client().get("/").headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


def test_the_apis_page_loads_nothing_from_elsewhere(db: None) -> None:
    page = Client().get("/api/v1/docs").content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert addresses
    assert all(address.startswith("/") for address in addresses)
    for address in addresses:
        if address.startswith("/static/"):
            answer = Client().get(address)
            assert answer.status_code == 200
            answer.close()
    assert "<script>" not in page


def test_installations_on_one_machine_do_not_share_sessions() -> None:
    assert settings.SESSION_COOKIE_NAME.startswith("concertina_session_")


NULL = ["teams/vision/standing?pool=%00", "teams/vision/secrets/%00", "jobs?a%00b=1", "nodes/%00/x"]


@pytest.mark.parametrize("address", NULL)
@pytest.mark.parametrize("method", ["get", "delete"])
def test_a_null_character_in_an_address_is_refused(address: str, method: str) -> None:
    answer = getattr(APIClient(), method)(f"/api/v1/{address}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert "null character" in answer.json()["message"]


def test_a_page_for_people_refuses_it_in_words() -> None:
    answer = Client().get("/admin/login/?next=%00")
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/api/v1/session", "/api/v1/jobs", "/internal/v1/jobs/a/sync"])
def test_a_wrong_host_is_refused_with_the_envelope(path: str) -> None:
    answer = APIClient().get(path, HTTP_HOST="elsewhere.example.com")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert "CONCERTINA_ALLOWED_HOSTS" in answer.json()["message"]


def test_a_web_socket_is_refused_without_an_error() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    asyncio.run(application({"type": "websocket", "path": "/", "headers": []}, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
