"""What do the processes of the service find in their environment?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from control_plane import environment
from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.service import Service


def test_people_may_come_through_a_web_server_that_coordinators_do_not_need(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTINA_SERVICE_URL", "https://concertina.example.com")
    checkout = checkouts.find(home=folder / "state")
    checkout.make_folders()
    service = Service(
        checkout=checkout,
        secrets=secrets_file.load_or_create(checkout),
        port=8100,
        tick_seconds=1.0,
    )
    told = environment.read({**service.environment(), "CONCERTINA_TRUST_ALL_JOBS": "yes"})
    assert told.service_url == "https://concertina.example.com"
    assert told.internal_url == service.url == "http://127.0.0.1:8100"
    shutil.rmtree(checkout.runtime_dir)
