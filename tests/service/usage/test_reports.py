"""Does the report of a month say what a team used, lent and pays, and add up to that of all?"""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from control_plane.api.usage import report_composing as composing
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from autoscaler.gpu_accounts.models import (
    AccountedJob,
    ClosedHour,
    GpuPrice,
    OwedHour,
    TeamDay,
    TeamMonth,
)
from jobs.models import Job
from tests.campaigns import examples
from tests.service.conftest import SubmitJob
from tests.service.usage.accounts import HOUR, account, close, line

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pool")]
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
MINUTE = 60_000_000


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


@pytest.fixture
def accounts() -> None:
    """Ten GPU-hours of vision in November, of which four were language's; five in October."""
    digits = account("digits000001", "vision", "ada", project="ocr")
    words = account("words0000001", "vision", "bob", project="ocr", stage="pretrain")
    close(
        [
            line(OCTOBER, job=digits, guaranteed=5),
            line(NOVEMBER, job=digits, guaranteed=2, borrowed=1, lost=0.5),
            line(NOVEMBER + 20 * 24 * HOUR, job=words, guaranteed=4, borrowed=3, stalled=1),
            line(NOVEMBER, team="language", lent=4, idle=2),
            line(NOVEMBER, team="", idle=1),
            line(NOVEMBER + 30 * 24 * HOUR, team="vision", idle=1),
        ]
    )
    for since, price in ((date(2026, 10, 1), 2), (date(2026, 11, 10), 3)):
        GpuPrice.objects.create(pool="default", since=since, per_gpu_hour=price)


def report(client: APIClient, month: str = "2026-11", team: str = "vision", **asked: str) -> Any:
    return client.get(f"/api/v1/teams/{team}/reports/{month}", asked)


def test_it_says_whose_it_was_what_it_costs_and_how_the_month_before_was(
    api: APIClient, accounts: None
) -> None:
    found = report(api).json()
    total = found["total"]
    assert (total["guaranteed_gpu_hours"], total["borrowed_gpu_hours"]) == (6, 4)
    assert (total["cost"], total["credit"], total["balance"]) == (3 * 2 + 7 * 3, 0, 27)
    assert found["before"]["total"]["cost"] == 10
    people = [(one["user"], one["cost"]) for one in found["by_person"]]
    assert people == [("bob", 21), ("ada", 6)]
    jobs = [(one["job"], one["job_name"], one["cost"]) for one in found["by_job"]]
    assert jobs == [
        ("words0000001", "train-words0000001", 21),
        ("digits000001", "train-digits000001", 6),
    ]
    labels = [(one["label"], one["value"], one["cost"]) for one in found["by_label"]]
    assert labels == [("project", "ocr", 27), ("stage", "pretrain", 21)]
    assert [(one["pool"], one["cost"]) for one in found["by_pool"]] == [("default", 27)]
    assert (found["is_over"], found["since"]) == (True, "2026-11-01T00:00:00Z")
    assert found["message"].startswith(
        "Team vision in November 2026: its jobs held 10 GPU-hours, of which 4 borrowed;"
    )
    assert "27.00 in all" in found["message"]


def test_who_lent_is_credited_at_the_price_of_the_day(
    foreign_api: APIClient, accounts: None
) -> None:
    total = report(foreign_api, team="language").json()["total"]
    assert (total["cost"], total["credit"], total["balance"]) == (0, 8, -8)


def test_the_report_of_all_has_a_row_for_each_team(admin_api: APIClient, accounts: None) -> None:
    found = admin_api.get("/api/v1/reports/2026-11").json()
    rows = [(row["team"], row["cost"], row["credit"]) for row in found["teams"]]
    assert rows == [(None, 0, 0), ("language", 0, 8), ("vision", 27, 0)]
    assert (found["total"]["cost"], found["total"]["credit"]) == (27, 8)
    assert found["total"]["balance"] == 19
    assert found["total"]["idle_gpu_hours"] == 3
    assert found["before"]["total"]["cost"] == 10


def test_a_team_whose_jobs_held_no_gpu_has_a_row_too(
    api: APIClient, admin_api: APIClient, accounts: None, submit: SubmitJob
) -> None:
    Job.objects.filter(pk=submit().pk).update(state="failed", finished_at=OCTOBER - HOUR)
    own = report(api, "2026-09").json()
    (row,) = admin_api.get("/api/v1/reports/2026-09").json()["teams"]
    assert (row["team"], row["jobs"]) == ("vision", own["jobs"])
    assert {name: row[name] for name in own["total"]} == own["total"]


def test_a_month_before_the_first_record_has_no_time_of_another_month(
    api: APIClient, accounts: None
) -> None:
    found = report(api, "2026-08").json()
    assert (found["since"], found["until"]) == ("2026-08-01T00:00:00Z", "2026-08-01T00:00:00Z")


def test_only_admins_read_that_of_all(api: APIClient) -> None:
    assert api.get("/api/v1/reports/2026-11").status_code == 403


def test_it_tells_of_fairness_and_of_jobs_that_ended(
    api: APIClient, accounts: None, submit: SubmitJob
) -> None:
    OwedHour.objects.create(
        hour=NOVEMBER,
        pool="default",
        team="vision",
        working=60 * MINUTE,
        given=30 * MINUTE,
        missing={"reclaim": 60 * MINUTE},
    )
    for number, state in enumerate(("completed", "completed", "failed", "cancelled")):
        job = submit(name=f"job-{number}")
        Job.objects.filter(pk=job.pk).update(state=state, finished_at=NOVEMBER + HOUR)
    found = report(api).json()
    assert found["jobs"] == {"completed": 2, "failed": 1, "cancelled": 1}
    assert found["fairness"]["missing"][0]["cause"] == "reclaim"
    assert "given what it was owed for 50.0 %" in found["fairness"]["message"]
    TeamMonth.objects.create(month=date(2026, 11, 1), team="vision", completed=7)
    Job.objects.all().delete()
    assert report(api).json()["jobs"]["completed"] == 7


def test_without_a_price_no_cost_is_told(api: APIClient, accounts: None) -> None:
    GpuPrice.objects.filter(since=date(2026, 10, 1)).delete()
    found = report(api).json()
    assert (found["total"]["cost"], found["total"]["balance"]) == (None, None)
    assert "costs" not in found["message"]
    assert [one["cost"] for one in found["by_person"]] == [21, None]


def test_it_is_a_table_for_spreadsheets(
    api: APIClient, admin_api: APIClient, accounts: None
) -> None:
    AccountedJob.objects.filter(user="ada").update(name="=cmd()")
    answer = report(api, format="csv")
    assert 'filename="report-vision-2026-11.csv"' in answer["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["part"], row["name"]) for row in rows][:3] == [
        *(("total", "2026-11"), ("before", "2026-10"), ("pool", "default")),
    ]
    assert "'=cmd()" in [row["more"] for row in rows]
    whole = admin_api.get("/api/v1/reports/2026-11", {"format": "csv"}).content.decode()
    assert {row["team"] for row in csv.DictReader(io.StringIO(whole))} == {
        *("", "vision", "language"),
    }


@pytest.mark.parametrize("month", ["2026-13", "cow", "2026-1", "1999-01", "2026-11-01"])
def test_what_is_no_month_is_refused(api: APIClient, month: str) -> None:
    answer = report(api, month)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "month")


def test_other_teams_reports_are_not_there(api: APIClient, accounts: None) -> None:
    assert report(api, team="language").status_code == 404
    assert report(api, team="nobody").status_code == 404


def test_the_latest_month_is_the_last_that_is_over_if_it_has_accounts(api: APIClient) -> None:
    now = timezone.now()
    this = now.date().replace(day=1)
    assert report(api, "latest").json()["month"] == f"{this:%Y-%m}"
    ClosedHour.objects.create(
        hour=datetime(this.year, this.month, 1, tzinfo=UTC) - timedelta(hours=5), capacities={}
    )
    assert report(api, "latest").json()["month"] == f"{this - timedelta(days=1):%Y-%m}"


def test_before_any_hour_is_closed_a_month_is_empty(api: APIClient) -> None:
    found = report(api, "2026-12").json()
    assert (found["is_over"], found["by_job"], found["total"]["cost"]) == (False, [], 0)
    assert found["since"] == found["until"]


def test_it_takes_a_bounded_number_of_statements_and_rows(api: APIClient, accounts: None) -> None:
    with CaptureQueriesContext(connection) as few:
        report(api)
    lines = []
    for number in range(60):
        job = account(f"more{number:08}", "vision", f"user-{number}", run=str(number))
        lines += [line(NOVEMBER + day * 24 * HOUR, job=job, guaranteed=1) for day in (0, 20)]
    TeamDay.objects.all().delete()
    close(lines)
    with CaptureQueriesContext(connection) as many:
        found = report(api).json()
    assert len(many) == len(few) <= 14
    assert {len(found[part]) for part in ("by_person", "by_job", "by_label")} == {20}
    assert found["total"]["guaranteed_gpu_hours"] == 126


_hours = st.floats(0, 1e5, allow_nan=False)
_lines = st.lists(
    st.fixed_dictionaries(
        {
            "team": st.sampled_from(["", "vision", "language", "audio"]),
            "pool": st.sampled_from(["default", "h100"]),
            "day": st.integers(0, 40),
            "amounts": st.fixed_dictionaries(
                dict.fromkeys(("guaranteed", "borrowed", "lent", "reserved", "idle"), _hours)
            ),
        }
    ),
    min_size=1,
    max_size=12,
)
_prices = st.lists(
    st.tuples(
        st.sampled_from(["default", "h100"]),
        st.integers(0, 40),
        st.decimals(0, 999_999, places=6),
    ),
    max_size=5,
    unique_by=lambda one: one[:2],
)


@settings(
    examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lines=_lines, prices=_prices)
def test_teams_add_up_to_the_whole_and_credits_and_charges_balance(
    lines: list[dict[str, Any]], prices: list[tuple[str, int, Decimal]]
) -> None:
    with transaction.atomic():
        begin = OCTOBER + 20 * 24 * HOUR
        unique = {(one["team"], one["pool"], one["day"]): one for one in lines}
        close(
            [
                line(begin + day * 24 * HOUR, team=team, pool=pool, **one["amounts"])
                for (team, pool, day), one in unique.items()
            ]
        )
        for pool, day, price in prices:
            since = (begin + timedelta(days=day)).date()
            GpuPrice.objects.create(pool=pool, since=since, per_gpu_hour=price)
        for month in (date(2026, 10, 1), date(2026, 11, 1)):
            whole = composing.whole_report(month)
            for row in whole["teams"]:
                own = composing.team_report(row["team"] or "", month)["total"]
                assert {name: row[name] for name in own} == own
            for name in ("cost", "credit", "balance"):
                told = [row[name] for row in whole["teams"]]
                if name != "balance" and None not in told:
                    assert exactly(whole["total"][name]) == sum(map(exactly, told))
                elif None in told:
                    assert whole["total"][name] is None
            if whole["total"]["balance"] is not None:
                balances = sum(exactly(row["balance"]) for row in whole["teams"])
                assert balances == exactly(whole["total"]["balance"])
            for name in ("guaranteed", "borrowed", "lent", "idle"):
                told = [row[f"{name}_gpu_hours"] for row in whole["teams"]]
                assert whole["total"][f"{name}_gpu_hours"] == pytest.approx(sum(told))
        transaction.set_rollback(True)


def exactly(amount: float) -> Decimal:
    """What is told, to the digit."""
    return round(Decimal(repr(amount)), 6)
