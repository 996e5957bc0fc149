"""Do the examples of docs/clients/python.md run, one after the other, on a real service?"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from tenancy.models import Quota, Team

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.running_api import RunningApi
from tests.client.test_submitting import finish

PAGE = Path(__file__).parents[3] / "docs/clients/python.md"


@pytest.fixture
def jobs_end(api: RunningApi) -> Iterator[None]:
    """Each job that is queued is carried to its end."""
    is_over = threading.Event()

    def carry_on() -> None:
        try:
            while not is_over.wait(0.05):
                for job in Job.objects.filter(state=JobState.QUEUED):
                    finish(job, JobState.COMPLETED)
        finally:
            connection.close()

    thread = threading.Thread(target=carry_on)
    thread.start()
    yield
    is_over.set()
    thread.join()


def test_every_example_runs(
    api: RunningApi,
    token_of: dict[str, str],
    jobs_end: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CONCERTINA_URL", api.url)
    monkeypatch.setenv("CONCERTINA_TOKEN", token_of["vision"])
    get_user_model().objects.create_superuser("lina", password="a long password")
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    known: dict[str, Any] = {"password": "a long password"}
    printed = []
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), known)  # noqa: S102 - ours
        printed.append(capsys.readouterr().out)
    assert printed[0].count("state_changed") == 4
    assert printed[0].splitlines()[-3:] == [f"lr-{rate} completed" for rate in known["rates"]]
    assert printed[1].startswith("['completed', 'completed', 'completed', 'completed']\nseed-")
    assert {"default 4", "lr-0.1 completed"} <= {*printed[2].splitlines()}
    assert "\nteam," in printed[2]
    assert '"submitted"' in printed[3]
    assert printed[4] == "invalid_spec command\n"
    assert Quota.objects.get(team=Team.objects.get(name="speech")).guaranteed_gpus == 1
    assert len(printed) == 6
