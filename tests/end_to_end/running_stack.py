"""What may an end-to-end test know of the stack? What a person who started it would know."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import psutil
import pytest
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record
from local_stack.checkout import Checkout
from local_stack.containers import own_daemon
from local_stack.stack import background
from local_stack.stack.stack import Options

from tests import image_shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """A stack that is ready."""

    checkout: Checkout
    url: str
    admin_username: str
    admin_password: str
    tokens: dict[str, str]
    data_folder: Path  # below which sources of data may lie

    def client(self, team: str) -> httpx.Client:
        return self.client_of(self.tokens[team])

    def client_of(self, key: str | None) -> httpx.Client:
        """The client of whoever has this key, or of nobody; it waits as a busy machine asks for."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def allow_image(self, pattern: str) -> None:
        """As an admin; every team may run it then."""
        answer = self._as_admin("POST", "image-rules", {"pattern": pattern, "team": None})
        assert answer.status_code == 201 or "already" in answer.text, answer.text

    def add_data(self, name: str, folder: Path, *teams: str) -> None:
        """As an admin; it has to lie below `data_folder`."""
        wanted = {"path": str(folder), "teams": teams}
        answer = self._as_admin("PUT", f"data-sources/{name}", wanted)
        assert answer.is_success, answer.text

    def let_reach(self, team: str, *hosts: str) -> None:
        """As an admin; the team's jobs may ask for these hosts with ports, for none: for nobody."""
        wanted = {"network": "listed", "reachable": hosts} if hosts else {"network": "isolated"}
        answer = self._as_admin("PATCH", f"teams/{team}", wanted)
        assert answer.is_success, answer.text

    def make_team(self, team: str, *, parent: str) -> None:
        """As an admin; it is promised nothing yet."""
        answer = self._as_admin("POST", "teams", {"name": team, "parent": parent})
        assert answer.status_code == 201, answer.text

    def remove_team(self, team: str) -> None:
        """As an admin, with its quotas."""
        answer = self._as_admin("DELETE", f"teams/{team}", {})
        assert answer.status_code == 204, answer.text

    @contextmanager
    def personal_token(self) -> Iterator[str]:
        """A key of the admin's own, which is revoked in the end."""
        answer = self._as_admin(
            "POST", "personal-tokens", {"name": f"test-{uuid.uuid4().hex[:8]}", "days": 1}
        )
        assert answer.status_code == 201, answer.text
        made = answer.json()
        yield made["key"]
        gone = self._as_admin("DELETE", f"personal-tokens/{made['id']}", None)
        assert gone.status_code == 204, gone.text

    def audited(self, **asked: str) -> list[dict[str, Any]]:
        """As an admin: entries of the audit log, the newest first."""
        query = urlencode(asked)
        answer = self._as_admin("GET", f"audit?{query}", None)
        assert answer.is_success, answer.text
        entries: list[dict[str, Any]] = answer.json()["items"]
        return entries

    def put_back_in_service(self, node: str) -> None:
        """As an admin; asking for it twice changes nothing."""
        answer = self._as_admin("POST", f"nodes/{node}/uncordon", {})
        assert answer.is_success, answer.text

    def _as_admin(self, method: str, address: str, body: object) -> httpx.Response:
        told = {"username": self.admin_username, "password": self.admin_password}
        with httpx.Client(base_url=self.url, timeout=60) as admin:
            assert admin.post("/api/v1/session", json=told).status_code == 200
            proof = {"X-CSRFToken": admin.cookies["csrftoken"]}
            return admin.request(method, f"/api/v1/{address}", json=body, headers=proof)

    def claimed_gpus(self) -> int:
        """GPUs that are booked in all pools."""
        with self.client("vision") as client:
            return sum(pool["gpus_used"] for pool in client.get("/api/v1/pools").json()["items"])

    def process(self, name: str) -> psutil.Process:
        """The supervised process `name` as it runs now."""
        return psutil.Process(self.pid(name))

    def pid(self, name: str) -> int:
        record = stack_record.current(self.checkout)
        assert record is not None
        return next(process.pid for process in record.processes if process.name == name)

    def training_process(self, worker_id: str, *, script: str) -> psutil.Process | None:
        """The process in which this worker runs the user's script, while it does."""
        return _process_with("CONCERTINA_WORKER_ID", worker_id, runs=script)

    def coordinator_process(self, job_id: str) -> psutil.Process | None:
        return _process_with("CONCERTINA_JOB_ID", job_id, runs="concertina_worker.coordinator")


@contextmanager
def running(options: Options, given: Mapping[str, str] | None = None) -> Iterator[RunningStack]:
    """A stack of its own; at the end nothing of it is left."""
    home = Path(tempfile.mkdtemp(prefix="concertina-end-to-end-"))
    checkout = checkouts.find(home=home / "state")
    data_folder = home / "data"
    data_folder.mkdir()
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
                patch.delenv(name)  # those of the other tests' servers
        told = {
            "CONCERTINA_DATA_FOLDERS": str(data_folder),
            "CONCERTINA_PROCESSOR_SHARE": "0",  # all who sign in come from one address
            "CONCERTINA_UNKNOWN_RATE": "0",
            **(given or {}),
        }
        for name, value in told.items():
            patch.setenv(name, value)
        if options.host == "docker":
            image_shelf.take(own_daemon.folders(checkout)[0] / "data")
        record = background.start(checkout, options, ends_with_us=True, say=said.append)
    secrets = secrets_file.load_or_create(checkout)
    try:
        yield RunningStack(
            checkout=checkout,
            url=record.url,
            admin_username=secrets.admin_username,
            admin_password=secrets.admin_password,
            tokens=dict(secrets.tokens),
            data_folder=data_folder,
        )
    finally:
        background.stop(checkout, say=said.append)
        shutil.rmtree(home, ignore_errors=True)


def _process_with(variable: str, value: str, *, runs: str) -> psutil.Process | None:
    for process in psutil.process_iter():
        try:
            if (
                any(word.endswith(runs) for word in process.cmdline())
                and process.environ().get(variable) == value
            ):
                return process
        except psutil.Error:  # it ended while we looked
            continue
    return None
