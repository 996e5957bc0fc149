"""Does a team find in the browser what it used, borrowed and lent, and of which guarantee?"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.browser import keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)

LAST_MONTH: Final = datetime.now(UTC).replace(day=1) - timedelta(days=1)
MONTH: Final = f"{LAST_MONTH:%Y-%m}"
# Ten days on which two people held all of a guarantee of 2 GPUs, but for 8 GPU-hours that were lent
# and 4 that nobody had, and ten on which it was 4 GPUs; on one of them they borrowed 6 GPU-hours.
_MADE: Final = """
    WITH owner AS (
        INSERT INTO gpu_accounts_accountowner (pool, team, "user")
        VALUES ('made', 'vision', 'ada'), ('made', 'vision', 'carl'), ('made', 'vision', '')
        RETURNING id, "user"
    ), job AS (
        INSERT INTO gpu_accounts_accountedjob (job, pool, team, "user", name, labels)
        VALUES ('made-1', 'made', 'vision', 'ada', 'digits', '{"project": "digits"}'),
            ('made-2', 'made', 'vision', 'carl', 'words', '{}')
        RETURNING id, "user"
    ), line AS (
        INSERT INTO gpu_accounts_dayline (
            day, owner_id, job_id,
            guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
        )
        SELECT made.day, owner.id, job.id, hours * 3600000000, borrowed * 3600000000,
            lent * 3600000000, 0, idle * 3600000000, 0, 0, 0
        FROM (
            SELECT %(month)s::date + n AS day, who, lent, idle,
                CASE WHEN who = '' THEN 0 WHEN who = 'ada' THEN 24 WHEN n < 10 THEN 12 ELSE 60 END
                    AS hours,
                CASE WHEN who = 'ada' AND n = 12 THEN 6 ELSE 0 END AS borrowed
            FROM generate_series(0, 19) n, (VALUES ('ada', 0, 0), ('carl', 0, 0), ('', 8, 4))
                AS held(who, lent, idle)
        ) AS made JOIN owner ON owner."user" = who LEFT JOIN job ON job."user" = who
        RETURNING *
    )
    INSERT INTO gpu_accounts_teamday (
        day, pool, team, guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
    )
    SELECT day, 'made', 'vision', sum(guaranteed), sum(borrowed), sum(lent), 0, sum(idle), 0, 0, 0
    FROM line GROUP BY day
"""
_CLOSED: Final = """
    INSERT INTO gpu_accounts_closedhour (hour, capacities, excess, unseen)
    VALUES (%s::date, '{}', 0, 0), (date_trunc('hour', now()) - interval '1 hour', '{}', 0, 0)
    ON CONFLICT DO NOTHING
"""
# Ten hours in which it had work; in the first one 30 GPU-minutes were missing.
_OWED: Final = """
    INSERT INTO gpu_accounts_owedhour (hour, pool, team, working, given, missing)
    SELECT hour, 'made', 'vision', 3600000000,
        CASE WHEN hour = first THEN 1800000000 ELSE 3600000000 END,
        CASE WHEN hour = first THEN '{"reclaim": 1200000000, "nodes_lost": 600000000}' ELSE '{}' END
            ::jsonb
    FROM (SELECT %(month)s::date + interval '2 days' AS first) AS begin,
        generate_series(first, first + interval '9 hours', '1 hour') AS hour
"""
_GONE: Final = """
    DELETE FROM gpu_accounts_owedhour WHERE pool = 'made';
    DELETE FROM gpu_accounts_dayline WHERE owner_id IN (
        SELECT id FROM gpu_accounts_accountowner WHERE pool = 'made');
    DELETE FROM gpu_accounts_teamday WHERE pool = 'made';
    DELETE FROM gpu_accounts_accountedjob WHERE pool = 'made';
    DELETE FROM gpu_accounts_accountowner WHERE pool = 'made';
    DELETE FROM gpu_accounts_closedhour WHERE capacities = '{}'
"""


@pytest.fixture(scope="module", autouse=True)
def accounts(stack: RunningStack) -> Iterator[None]:
    """Those of twenty days of last month, as they would have been closed."""
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_MADE, {"month": f"{MONTH}-01"})
        cursor.execute(_OWED, {"month": f"{MONTH}-01"})
        cursor.execute(_CLOSED, [f"{MONTH}-01"])
    yield
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_GONE)


def test_a_month_is_chosen_by_keyboard_and_stands_in_the_address(page: Page) -> None:
    page.goto("/teams/vision")
    page.get_by_role("link", name="Usage", exact=True).click()
    page.get_by_role("button", name="Last 30 days").focus()
    page.keyboard.press("Enter")
    page.get_by_role("radio", name=f"{LAST_MONTH:%B %Y}").focus()
    page.keyboard.press("Space")
    page.wait_for_url(f"**/usage?month={MONTH}")
    page.reload()
    expect(page.get_by_role("button", name=f"{LAST_MONTH:%B %Y}")).to_be_visible()
    expect(page.get_by_role("img", name="GPU-hours by day")).to_have_accessible_name(
        f"GPU-hours by day, of {LAST_MONTH.day} days: 1200 own, 6 borrowed, 160 lent,"
        " of 1440 guaranteed."
    )


def test_the_receipt_tells_the_guarantee_as_it_was_and_who_used_it(page: Page) -> None:
    page.goto(f"/teams/vision/usage?month={MONTH}")
    totals = page.get_by_role("region", name="GPU-hours in all")
    for name, amount in {
        "Guaranteed": "1,440.0 GPU-h",
        "Own": "1,200.0 GPU-h",
        "Borrowed": "6.0 GPU-h",
        "Lent": "160.0 GPU-h",
        "Idle": "80.0 GPU-h",
    }.items():
        expect(totals.get_by_role("group", name=name)).to_contain_text(amount)
    page.get_by_text("As a table").click()
    days = page.get_by_role("table", name="GPU-hours by day, newest first")
    for day, guarantee in {"10": "48.0", "11": "96.0"}.items():
        row = days.get_by_role("row").filter(has_text=f"{MONTH}-{day}")
        expect(row.get_by_role("cell").last).to_have_text(guarantee)
    people = page.get_by_role("table", name="GPU-hours, by person")
    for name, cells in {"carl": "720.0", "ada": "480.0"}.items():
        expect(people.get_by_role("row").filter(has_text=name)).to_contain_text(cells)
    pools = page.get_by_role("table", name="GPU-hours, by pool").get_by_role("row")
    expect(pools.filter(has_text="made")).to_contain_text("1,200.0")
    jobs = page.get_by_role("table", name="GPU-hours, by job").get_by_role("row")
    expect(jobs.filter(has_text="words")).to_contain_text("720.0")
    with page.expect_download() as started:
        page.get_by_role("button", name="Save GPU-hours by day as PNG").press("Enter")
    assert started.value.path().read_bytes().startswith(b"\x89PNG")
    receipt = page.get_by_role("region", name="Given what it was owed")
    expect(receipt).to_contain_text("for 95.0 % of the time it had work; 30 GPU-minutes short")
    causes = receipt.get_by_role("table", name="GPU time short, by cause").get_by_role("row")
    expect(causes.nth(1)).to_contain_text("reclaim in progressmade20 GPU-min")
    expect(causes.nth(2)).to_contain_text("nodes lost or closedmade10 GPU-min")
    assert violations_in_both_themes(page, people) == []
    keep_screenshot(page, "team-usage")


def test_it_is_told_apart_by_label_and_downloaded_as_a_table(page: Page) -> None:
    page.goto(f"/teams/vision/usage?month={MONTH}&label=project")
    labels = page.get_by_role("table", name="GPU-hours, by label")
    expect(labels.get_by_role("row").filter(has_text="digits")).to_contain_text("480.0")
    expect(labels.get_by_role("row").filter(has_text="without project")).to_contain_text("720.0")
    link = page.get_by_role("link", name="Download as CSV").get_attribute("href")
    assert link is not None
    answer = page.request.get(link)
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(answer.text().splitlines()))
    assert sum(float(row["lent_gpu_hours"]) for row in rows) == pytest.approx(160)
    assert {row["user"] for row in rows} == {"ada", "carl", ""}


def test_the_report_of_a_month_is_a_page_that_can_be_printed(page: Page) -> None:
    page.goto(f"/teams/vision/usage?month={MONTH}")
    page.get_by_role("link", name="Report of the month").click()
    page.wait_for_url(f"**/teams/vision/report/{MONTH}")
    report = page.get_by_role("article", name=f"Report of {LAST_MONTH:%B %Y}")
    expect(report).to_contain_text("held 1,206 GPU-hours, of which 6 borrowed; it lent 160.")
    held = report.get_by_role("row", name="Held, of the guarantee")
    expect(held).to_contain_text("1,200.0")
    expect(report.get_by_role("table", name="GPU-hours, largest jobs")).to_contain_text("digits")
    expect(report).to_contain_text("30 GPU-minutes short")
    with page.expect_download() as started:
        report.get_by_role("link", name="Download as CSV").click()
    rows = csv.DictReader(started.value.path().read_text().splitlines())
    assert [row["name"] for row in rows if row["part"] == "person"] == ["carl", "ada"]
    assert violations_in_both_themes(page, report) == []
    keep_screenshot(page, "month-report")
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="Overview")).to_be_hidden()
    expect(report.get_by_role("button", name="Print")).to_be_hidden()
    expect(report.get_by_role("table", name="GPU-hours, largest jobs")).to_be_visible()
    keep_screenshot(page, "month-report-on-paper")
    page.emulate_media(media="screen")
    look_wide_and_narrow(page, report, name="month-report")
