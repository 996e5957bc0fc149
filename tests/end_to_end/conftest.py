"""The whole stack, up once for all end-to-end tests: real servers, real service, real training."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import background, secrets_file
from local_stack import checkout as checkouts
from local_stack.stack import Options

from tests.end_to_end.running_stack import RunningStack

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="session")
def stack() -> Iterator[RunningStack]:
    home = Path(tempfile.mkdtemp(prefix="concertina-end-to-end-"))
    checkout = checkouts.find(home=home / "state")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
                patch.delenv(name)  # those of the other tests' servers
        record = background.start(
            checkout, Options(slots=4, tick_seconds=1.0), ends_with_us=True, say=said.append
        )
    secrets = secrets_file.load_or_create(checkout)
    yield RunningStack(
        checkout=checkout,
        url=record.url,
        admin_username=secrets.admin_username,
        admin_password=secrets.admin_password,
        tokens=dict(secrets.tokens),
    )
    background.stop(checkout, say=said.append)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def scripts() -> Path:
    return SCRIPTS
