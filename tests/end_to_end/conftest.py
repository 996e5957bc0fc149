"""The whole stack, up once for all end-to-end tests: real servers, real service, real training."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record
from local_stack.checkout import Checkout

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import until

SLOTS = 4
TICK_SECONDS = 1.0
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="session")
def stack() -> Iterator[RunningStack]:
    home = Path(tempfile.mkdtemp(prefix="concertina-end-to-end-"))
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "REDIS_URL"} and not name.startswith("CONCERTINA_")
    }
    checkout = checkouts.find(home=home / "state")
    supervisor = subprocess.Popen(
        [
            *(sys.executable, "-m", "local_stack", "up"),
            *("--slots", str(SLOTS), "--tick-seconds", str(TICK_SECONDS)),
        ],
        cwd=checkout.root,
        env={**environment, "CONCERTINA_HOME": str(checkout.state_dir)},
        start_new_session=True,
    )
    try:
        yield _when_ready(checkout, supervisor)
    finally:
        supervisor.send_signal(signal.SIGINT)
        supervisor.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _when_ready(checkout: Checkout, supervisor: subprocess.Popen[bytes]) -> RunningStack:
    def ready() -> stack_record.StackRecord | None:
        assert supervisor.poll() is None, "the stack ended while it started"
        record = stack_record.current(checkout)
        return record if record and record.phase is stack_record.Phase.READY else None

    record = until(ready, seconds=60, what="the stack is ready")
    secrets = secrets_file.load_or_create(checkout)
    return RunningStack(
        checkout=checkout,
        url=record.url,
        admin_username=secrets.admin_username,
        admin_password=secrets.admin_password,
        tokens=dict(secrets.tokens),
    )


@pytest.fixture
def scripts() -> Path:
    return SCRIPTS
