"""Is each team told once that its month is over, also if nobody looked when it ended?"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from control_plane.api.usage import report_words
from control_plane.reporting import month_ends
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tenancy.models import Team
from webhooks.models import WebhookDelivery
from webhooks.shapes import MOST_BODY

from autoscaler.gpu_accounts.models import ClosedHour, GpuPrice, MonthsPlace, TeamMonth
from jobs.models import Job
from tests.service.conftest import SubmitJob
from tests.service.usage.accounts import HOUR, account, close, line
from tests.service.webhooks.conftest import SERVICE, add

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pool")]
URL = "https://example.com/hook"
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def november() -> None:
    """Three GPU-hours of vision, of which one was language's; the month goes on."""
    assert tell() == 0  # before there are any accounts
    digits = account("digits000001", "vision", "ada", project="ocr")
    close(
        [
            line(NOVEMBER, job=digits, guaranteed=2, borrowed=1),
            line(NOVEMBER, team="language", lent=1),
        ]
    )
    GpuPrice.objects.create(pool="default", since=date(2026, 1, 1), per_gpu_hour=2)
    assert tell() == 0


def tell() -> int:
    return month_ends.tell_months(timezone.now(), service_url=SERVICE)


def close_until(month: int, *, year: int = 2026) -> None:
    """Close the last hour before this month, and one of it."""
    begins = datetime(year, month, 1, tzinfo=UTC)
    for hour in (begins - HOUR, begins):
        ClosedHour.objects.update_or_create(hour=hour, defaults={"capacities": {}})


def told() -> list[tuple[str, str, str]]:
    rows = WebhookDelivery.objects.select_related("webhook")
    bodies = [(row.webhook.name, json.loads(row.body)["data"]) for row in rows]
    return sorted((name, data["team"], data["month"]) for name, data in bodies)


def test_each_team_is_told_once_when_its_month_is_over(
    november: None, vision: Team, language: Team
) -> None:
    add(vision, URL, name="of-vision")
    add(language, URL, name="of-language")
    assert tell() == 0
    close_until(12)
    assert tell() == 1
    assert sorted(told()) == [
        ("of-language", "language", "2026-11"),
        ("of-vision", "vision", "2026-11"),
    ]
    (row,) = WebhookDelivery.objects.filter(webhook__name="of-vision")
    assert (row.kind, row.state, row.job_id) == ("month_closed", "waiting", "")
    body = json.loads(row.body)
    assert (body["type"], body["data"]["total"]["balance"]) == ("month_closed", 6.0)
    assert body["data"]["url"] == f"{SERVICE}/teams/vision/report/2026-11"
    assert tell() == 0
    assert len(told()) == 2


def test_months_in_which_nobody_looked_are_told_of_one_after_the_other(
    november: None, vision: Team
) -> None:
    add(vision, URL)
    december = datetime(2026, 12, 1, tzinfo=UTC)
    words = account("words0000001", "vision", "bob")
    digits = account("other0000001", "vision", "ada")
    close(
        [
            line(NOVEMBER, job=digits, guaranteed=2),
            line(december + 5 * HOUR, job=words, borrowed=1),
            line(datetime(2027, 1, 2, tzinfo=UTC), team="vision", idle=1),
        ]
    )
    assert tell() == 2
    assert told() == [("hook", "vision", "2026-11"), ("hook", "vision", "2026-12")]
    assert MonthsPlace.objects.get().month == date(2027, 1, 1)


def test_months_before_anybody_was_told_stay_untold(vision: Team) -> None:
    add(vision, URL)
    close([line(NOVEMBER, team="vision", idle=1), line(datetime(2027, 3, 4, tzinfo=UTC))])
    assert tell() == 0
    assert MonthsPlace.objects.get().month == date(2027, 3, 1)
    assert told() == []


def test_a_team_without_accounts_and_ended_jobs_is_told_nothing(
    november: None, vision: Team, language: Team
) -> None:
    quiet = Team.objects.create(name="quiet")
    add(quiet, URL, name="of-quiet")
    close_until(12)
    assert tell() == 1
    assert told() == []


def test_webhooks_of_teams_above_and_of_all_are_told_if_they_want_it(
    november: None, vision: Team, language: Team
) -> None:
    above = Team.objects.create(name="above")
    Team.objects.filter(pk=vision.pk).update(parent=above)
    add(above, URL, name="above", kinds=["month_closed"])
    add(None, URL, name="all", kinds=["idle", "month_closed"])
    add(vision, URL, name="other-kinds", kinds=["idle"])
    add(vision, URL, name="on-request", is_on_request=True)
    close_until(12)
    tell()
    assert sorted(told()) == [
        ("above", "vision", "2026-11"),
        ("all", "language", "2026-11"),
        ("all", "vision", "2026-11"),
    ]


def test_whoever_dies_in_between_has_told_nobody_and_the_next_tells_all(
    november: None, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(vision, URL)
    close_until(12)

    def die(*_: Any) -> int:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("webhooks.months.put_into_outbox", die)
        with pytest.raises(RuntimeError):
            tell()
    assert (told(), TeamMonth.objects.count()) == ([], 0)
    assert tell() == 1
    assert len(told()) == 1


def test_how_many_jobs_ended_is_kept_when_jobs_are_deleted(
    november: None, vision: Team, submit: SubmitJob
) -> None:
    job = submit()
    Job.objects.filter(pk=job.pk).update(state="failed", finished_at=NOVEMBER + HOUR)
    close_until(12)
    tell()
    kept = TeamMonth.objects.get(team="vision")
    assert (kept.month, kept.failed, kept.completed) == (date(2026, 11, 1), 1, 0)


def test_a_mail_says_the_most_important_first(november: None, vision: Team) -> None:
    add(vision, "mailto:vision@example.com", shape="mail")
    add(vision, URL, name="slack", shape="slack")
    close_until(12)
    tell()
    mail = json.loads(WebhookDelivery.objects.get(webhook__shape="mail").body)
    assert mail["subject"] == "vision: 3 GPU-hours in November 2026"
    first, *rest = mail["text"].splitlines()
    assert first == (
        "Team vision in November 2026: its jobs held 3 GPU-hours, of which 1 borrowed; it lent 0."
        " That costs 6.00; for what it lent it is credited 0.00: 6.00 in all. 0 jobs completed,"
        " 0 failed."
    )
    assert rest[-1] == f"{SERVICE}/teams/vision/report/2026-11"
    assert any(line.split() == ["balance", "6.00", "0.00"] for line in rest)
    chat = json.loads(WebhookDelivery.objects.get(webhook__shape="slack").body)
    assert chat["text"].startswith(f"<{SERVICE}/teams/vision/report/2026-11|vision, November 2026>")


def test_a_long_report_is_sent_without_its_tables(vision: Team) -> None:
    add(vision, URL)
    tell()
    lines = []
    for number in range(20):
        label = {f"{number}-{'k' * 200}": "v" * 900}
        job = account(f"more{number:08}", "vision", f"u{number}", **label)
        lines.append(line(NOVEMBER, job=job, guaranteed=1))
    close(lines)
    tell()
    close_until(12)
    tell()
    (row,) = WebhookDelivery.objects.all()
    assert len(row.body) <= MOST_BODY
    data = json.loads(row.body)["data"]
    assert (data["total"]["guaranteed_gpu_hours"], "by_label" in data) == (20, False)


def test_while_no_month_ends_it_takes_two_statements(november: None, vision: Team) -> None:
    with CaptureQueriesContext(connection) as queries:
        tell()
    assert len(queries) == 2


def test_a_month_is_called_as_people_do() -> None:
    assert report_words.month_in_words("2026-10") == "October 2026"
