"""A real OpenID provider, the certified `oidc-provider`, as a process of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).parent
FRONTEND = HERE.parents[1] / "frontend"
CLIENT_ID, CLIENT_SECRET = "concertina", "the client's secret"
Person = Mapping[str, Any]


@dataclass
class RunningProvider:
    """Who it knows, and whom it sends back to where."""

    issuer: str
    http: httpx.Client = field(repr=False)

    def has(
        self,
        people: Mapping[str, Person] | None = None,
        *,
        redirects: Sequence[str] | None = None,
        fault: str = "",
    ) -> None:
        """From now on it knows these people, by their subjects, and misbehaves so."""
        told: dict[str, Any] = {"fault": fault, "asked": {}}
        if people is not None:
            told["people"] = people
        if redirects is not None:
            told["redirects"] = redirects
        self.http.put("/testing/state", json=told).raise_for_status()

    def asked(self) -> dict[str, int]:
        """How often each of its addresses was asked since it was told something."""
        return dict(self.http.get("/testing/state").json())

    def sign_in(self, address: str, subject: str) -> str:
        """Do there what a person does with a fresh browser; return where it sends them."""
        with httpx.Client(base_url=self.issuer, timeout=60) as browser:
            response = browser.get(address)
            while True:
                goes_to = response.headers.get("Location", "")
                if goes_to and not goes_to.startswith((self.issuer, "/")):
                    return goes_to
                if response.status_code >= 400:
                    raise AssertionError(response.text)
                if goes_to:
                    response = browser.get(goes_to)
                else:
                    response = browser.post(response.url, data={"login": subject})


@contextmanager
def running() -> Iterator[RunningProvider]:
    command = ["node", "--no-warnings", str(HERE / "provider.mjs"), str(FRONTEND)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().strip()
        while issuer and not issuer.startswith("http://"):
            issuer = process.stdout.readline().strip()
        assert issuer, "the provider did not start: `npm ci` in frontend/ brings what it needs"
        with httpx.Client(base_url=issuer, timeout=60) as http:
            yield RunningProvider(issuer, http)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
