"""Which pages does the dashboard have? Of jobs and teams, those about one that is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

_PAGES: Final[Mapping[str, str]] = {
    "overview": "/",
    "jobs": "/jobs",
    "sweeps": "/sweeps",
    "submit": "/submit",
    "cluster": "/cluster",
    "autoscaler": "/autoscaler",
    "quotas": "/quotas",
    "simulations": "/simulations",
    "simulation-asked": "/simulations?since=2020-01-01T00:00:00Z",
    "audit": "/audit",
    "notifications": "/notifications",
    "account": "/account",
    "settings": "/settings",
    "device": "/device",
    "not-found": "/nowhere",
}
_PARTS_OF_TEAM: Final = ("", "/usage", "/report", "/people", "/notifications", "/setup")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page under the name of its pictures."""

    name: str
    path: str


def all_pages(client: httpx.Client) -> Iterator[ShownPage]:
    """Return every page that somebody who is signed in comes to; the client asks as an admin."""
    for name, path in _PAGES.items():
        yield ShownPage(name, path)
    jobs = _items(client, "/api/v1/jobs")
    for state in dict.fromkeys(job["state"] for job in jobs):
        newest = next(job for job in jobs if job["state"] == state)
        yield ShownPage(f"job-{state}", f"/jobs/{newest['id']}")
    if len(jobs) > 1:
        yield ShownPage("compare", f"/compare?jobs={jobs[0]['id']},{jobs[1]['id']}")
    for team in _items(client, "/api/v1/teams")[:1]:
        for part in _PARTS_OF_TEAM:
            yield ShownPage(f"team{part.replace('/', '-')}", f"/teams/{team['name']}{part}")
    for sweep in _items(client, "/api/v1/sweeps")[:1]:
        yield ShownPage("sweep", f"/sweeps/{sweep['id']}")
    for simulation in _items(client, "/api/v1/simulations")[:1]:
        yield ShownPage("simulation", f"/simulations/{simulation['id']}")


def pictured_pages(client: httpx.Client) -> Iterator[ShownPage]:
    """Return the pages that the README shows: of the job that was rescaled most often."""
    jobs = _items(client, "/api/v1/jobs")
    yield ShownPage("overview", "/")
    yield ShownPage("autoscaler", "/autoscaler")
    if jobs:
        liveliest = max(jobs, key=lambda job: job["rescales"])
        yield ShownPage("job", f"/jobs/{liveliest['id']}")


def _items(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    answer = client.get(path)
    answer.raise_for_status()
    items: list[dict[str, Any]] = answer.json()["items"]
    return items
