"""Is every page of the dashboard among those that are looked at?"""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from tools.screenshots.pages import all_pages

SOURCES = Path(__file__).parents[2] / "frontend/src"
ANSWERS = {
    "/api/v1/jobs": [
        {"id": "one", "state": "running", "rescales": 1},
        {"id": "two", "state": "completed", "rescales": 0},
    ],
    "/api/v1/teams": [{"name": "vision"}],
    "/api/v1/simulations": [{"id": "three"}],
    "/api/v1/sweeps": [{"id": "one"}],
}


def answer(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"items": ANSWERS[request.url.path]})


def routes(source: str) -> set[str]:
    found = re.findall(r'<Route path="([^"*]+)', (SOURCES / source).read_text())
    return {path.strip("/") for path in found}


def test_every_route_is_among_them() -> None:
    with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://service") as client:
        paths = [page.path.split("?")[0].strip("/") for page in all_pages(client)]
    of_team = {path.removeprefix("teams/vision").strip("/") for path in paths if "teams/" in path}
    assert routes("pages/team/TeamPage.tsx") <= of_team
    shapes = {re.sub(r"/(one|two|three|vision)\b.*", "/:", path) for path in paths}
    expected = {re.sub(r"/:.*", "/:", path) for path in routes("app/App.tsx")} - {"login"}
    assert expected <= shapes
