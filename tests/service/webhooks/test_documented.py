"""Does the code of docs/teams/webhooks.md tell what we sent from what somebody made up?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tenancy.models import Team
from webhooks import hooks
from webhooks.delivery import claims

from jobs.models import Event, Job
from tests.service.webhooks.conftest import add, tell
from tests.service.webhooks.receiver import Receiver

PAGE = Path(__file__).parents[3] / "docs" / "teams" / "webhooks.md"


@pytest.fixture(scope="module")
def is_genuine() -> Callable[[str, dict[str, str], bytes], bool]:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102 - ours
    verify: Callable[[str, dict[str, str], bytes], bool] = found["is_genuine"]
    return verify


def test_what_we_sent_is_genuine_and_nothing_else(
    is_genuine: Callable[..., bool], vision: Team, job: Job, receiver: Receiver
) -> None:
    _, key = add(vision, receiver.url + "/hook")
    _, other_key = add(vision, "https://example.com", name="other", kinds=["busy_again"])
    Event.objects.create(job=job, kind="idle")
    tell()
    (sent,) = receiver.received
    assert is_genuine(key, sent.headers, sent.body)
    assert not is_genuine(other_key, sent.headers, sent.body)
    assert not is_genuine(key, sent.headers, sent.body.replace(b"idle", b"lazy"))
    assert not is_genuine(key, sent.headers | {"webhook-id": "another"}, sent.body)
    old = sent.headers | {"webhook-timestamp": "1700000000"}
    assert not is_genuine(key, old, sent.body)


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    page = PAGE.read_text()
    most = f"at most {hooks.MOST_OF_TEAM}\nwebhooks, the installation {hooks.MOST_OF_INSTALLATION}"
    assert most in page
    assert f"after {claims.RETRIES.first_seconds:g} s" in page
    assert claims.RETRIES.longest_seconds == 4 * 3600
