"""What do the processes of the service find in their environment?"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from control_plane.configuration import environment
from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.stack.service import StackService

from concertina_worker.protocol import LONGEST_REST_SECONDS


def test_people_may_come_through_a_web_server_that_coordinators_do_not_need(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTINA_SERVICE_URL", "https://concertina.example.com")
    checkout = checkouts.find(home=folder / "state")
    checkout.make_folders()
    service = StackService(
        checkout=checkout,
        secrets=secrets_file.load_or_create(checkout),
        port=8100,
        tick_seconds=1.0,
    )
    told = environment.read({**service.environment(), "CONCERTINA_TRUST_ALL_JOBS": "yes"})
    assert told.service_url == "https://concertina.example.com"
    assert told.internal_url == service.url == "http://127.0.0.1:8100"
    shutil.rmtree(checkout.runtime_dir)


def test_each_process_has_its_own_role_in_the_database_and_only_who_signs_has_the_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    checkout = checkouts.find(home=folder / "state")
    checkout.make_folders()
    kept = secrets_file.load_or_create(checkout)
    service = StackService(checkout=checkout, secrets=kept, port=8100, tick_seconds=1.0)
    told = {spec.name: spec.environment for spec in service.processes()}
    roles = {name: urlsplit(one["DATABASE_URL"]).username for name, one in told.items()}
    assert roles == {
        "api": "concertina_api",
        "beat": "concertina_io",
        "control": "concertina_control",
        "io": "concertina_io",
    }
    with_key = {name for name, one in told.items() if kept.secret_key in one.values()}
    assert with_key == {"api", "control", "io"}
    shutil.rmtree(checkout.runtime_dir)


@pytest.mark.parametrize("at", ["here", "in production"])
def test_a_coordinators_connection_is_kept_until_its_next_report(folder: Path, at: str) -> None:
    if at == "in production":
        words = (checkouts.ROOT / "docker-compose.yml").read_text().split()
        kept = next(word.removeprefix("--keep-alive=") for word in words if "--keep-alive" in word)
    else:
        checkout = checkouts.find(home=folder / "state")
        checkout.make_folders()
        secrets = secrets_file.load_or_create(checkout)
        service = StackService(checkout=checkout, secrets=secrets, port=8100, tick_seconds=1.0)
        (api,) = [spec for spec in service.processes() if spec.name == "api"]
        kept = api.command[api.command.index("--keep-alive") + 1]
        shutil.rmtree(checkout.runtime_dir)
    assert float(kept) > LONGEST_REST_SECONDS + 5
