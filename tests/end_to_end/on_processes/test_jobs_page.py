"""Can every job there ever was be found, and one thing be done to many of them?"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from typing import Any, Final, Literal

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.accessibility import violations
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.live_page import names_of_events, wait_for_feed
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import job_of, until

pytestmark = pytest.mark.timeout(600)

ROWS_OF_A_PAGE: Final = 100
MANY: Final = 350
MOST_ASKED: Final = 3  # times, of a job that is submitted and then paused
MOST_DRAWN: Final = 60  # rows, of which some are above and below the window
_MADE: Final = """
    INSERT INTO jobs_job
    SELECT made.* FROM jobs_job job, generate_series(1, %s) n, LATERAL jsonb_populate_record(
        job, jsonb_build_object(
            'id', 'made' || n,
            'name', 'trial-' || n,
            'submitted_by', 'person-' || n %% 50,
            'submitted_at', now() - n * interval '1 min' - interval '1 hour',
            'finished_at', now() - n * interval '1 min',
            'state', CASE WHEN n %% 10 = 0 THEN 'failed' ELSE 'completed' END,
            'reason', CASE WHEN n %% 10 = 0 THEN 'script_failed' ELSE 'completed' END,
            'labels', jsonb_build_object('net', (ARRAY['resnet', 'bert'])[1 + n %% 2])
        )
    ) made
    WHERE job.id = %s
"""


@pytest.fixture(scope="module")
def many(stack: RunningStack) -> Iterator[None]:
    """Jobs that ended, one a minute; the newest is trial-1."""
    (pattern,) = submitted(stack, "pattern")
    with stack.client("vision") as client:
        client.post(f"/api/v1/jobs/{pattern}/cancel", json={}).raise_for_status()
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_MADE, [MANY, pattern])
    yield
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute("DELETE FROM jobs_job WHERE id LIKE 'made%'")


def submitted(stack: RunningStack, *names: str) -> list[str]:
    """Jobs that wait for a person, each of which would take the whole pool."""
    elastic = {"min_workers": 4, "max_workers": 4}
    ids = []
    with stack.client("vision") as client:
        for name in names:
            spec = {"name": name, "command": ["sleep", "600"], "elastic": elastic}
            answer = client.post("/api/v1/jobs", json=spec)
            assert answer.status_code == 201, answer.text
            ids.append(answer.json()["id"])
            client.post(f"/api/v1/jobs/{ids[-1]}/pause", json={}).raise_for_status()
        for job in ids:
            until(lambda job=job: job_of(client, job)["state"] == "paused", what="it is paused")
    return ids


def rows(page: Page) -> Locator:
    return page.get_by_role("grid", name="Jobs").locator("[data-row]")


def row(page: Page, name: str) -> Locator:
    return rows(page).filter(has=page.get_by_role("link", name=name, exact=True))


def test_very_many_jobs_are_read_as_they_come_into_sight(page: Page, many: None) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/jobs?search=trial-")
    first = row(page, "trial-1").get_by_role("link")
    expect(first).to_be_visible()
    expect(page.get_by_text(f"{MANY:,} jobs")).to_be_visible()
    first.focus()
    for number in range(ROWS_OF_A_PAGE, MANY, ROWS_OF_A_PAGE):
        page.keyboard.press("End")
        expect(row(page, f"trial-{number + 15}")).to_be_visible()
    page.keyboard.press("End")
    expect(row(page, f"trial-{MANY}").get_by_role("link")).to_be_focused()
    pages = [url for url in asked if "cursor=" in url]
    assert len(pages) == len(set(pages)) == MANY // ROWS_OF_A_PAGE
    assert rows(page).count() <= MOST_DRAWN

    page.keyboard.press("Home")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(row(page, "trial-2").get_by_role("link")).to_be_focused()
    assert len([url for url in asked if "cursor=" in url]) == len(pages)


def test_what_happens_elsewhere_is_told_and_asked_for_once(stack: RunningStack, page: Page) -> None:
    """Also once the service is there again after it was not; nothing is asked for in between."""
    page.add_init_script("window.setInterval = () => 0")  # by which pages ask again and again
    names, asked = names_of_events(page), list[str]()
    page.goto("/jobs?search=told-elsewhere")
    expect(page.get_by_text("0 jobs", exact=True)).to_be_visible()
    wait_for_feed(page, names)
    page.on("request", lambda request: asked.append(request.url))
    submitted(stack, "told-elsewhere-1")
    expect(page.get_by_text("1 job", exact=True)).to_be_visible()
    asked = [url for url in asked if "/live?" not in url]
    assert asked
    assert len(asked) == len([url for url in asked if "count=true" in url]) <= MOST_ASKED

    os.kill(stack.pid("api"), signal.SIGKILL)
    wait_for_feed(page, names, times=2)
    submitted(stack, "told-elsewhere-2")
    expect(page.get_by_text("2 jobs", exact=True)).to_be_visible()


def test_what_is_looked_for_stands_in_the_address(page: Page, many: None) -> None:
    page.goto("/")
    page.get_by_role("link", name="All jobs").click()
    page.get_by_label("Search jobs").fill("trial-")  # other jobs of this stack failed too
    page.get_by_role("button", name="State").click()
    page.get_by_role("group", name="States").get_by_label("failed").click()
    page.keyboard.press("Escape")
    expect(page.get_by_text(f"{MANY // 10} jobs")).to_be_visible()
    row(page, "trial-10").get_by_role("button", name="person-10").click()
    expect(page.get_by_text(f"{MANY // 50} jobs")).to_be_visible()
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("group", name="Columns").get_by_label("Labels").click()
    row(page, "trial-60").get_by_role("button", name="net=resnet").click()
    expect(page.get_by_label("Person or token")).to_have_value("person-10")
    page.get_by_label("Search jobs").fill("trial-1")
    expect(rows(page)).to_have_count(3)  # 10, 110 and 160
    address = page.url
    for wish in ("state=failed", "user=person-10", "label=net%3Dresnet", "search=trial-1"):
        assert wish in address
    page.reload()
    expect(rows(page)).to_have_count(3)
    row(page, "trial-110").get_by_role("link").click()
    expect(page.get_by_role("heading", name="trial-110")).to_be_visible()
    page.go_back()
    expect(row(page, "trial-110")).to_be_visible()
    assert page.url == address
    page.get_by_label("Search jobs").fill("nothing is called so")
    page.get_by_role("button", name="Show all jobs").click()
    expect(page.get_by_label("Search jobs")).to_have_value("")
    expect(rows(page).first).to_be_visible()


def test_many_are_cancelled_after_a_question_and_each_outcome_is_told(
    page: Page, stack: RunningStack
) -> None:
    ids = submitted(stack, "bulk-a", "bulk-b", "bulk-c")
    page.goto("/jobs?state=paused&search=bulk-")
    expect(rows(page)).to_have_count(3)
    page.get_by_label("Choose all jobs of the list").click()
    expect(page.get_by_text("3 chosen")).to_be_visible()
    label(page, "paper=icml")
    page.get_by_label("Choose all jobs of the list").click()
    page.get_by_role("button", name="Cancel jobs").click()
    dialog = page.get_by_role("dialog", name="Cancel 3 jobs for good?")
    expect(dialog).to_contain_text("bulk-b")
    keep_screenshot(page, "jobs-question")
    with stack.client("vision") as client:
        client.post(f"/api/v1/jobs/{ids[1]}/cancel", json={}).raise_for_status()
        dialog.get_by_role("button", name="Cancel 3 jobs").click()
        outcomes = page.get_by_role("dialog", name="2 of 3 cancelled")
        refused = outcomes.get_by_role("listitem").first
        expect(refused).to_contain_text("bulk-b")
        expect(refused).to_contain_text("refused: ")
        jobs: list[dict[str, Any]] = [job_of(client, job) for job in ids]
    assert {job["state"] for job in jobs} == {"cancelled"}
    assert all(job["labels"]["paper"] == "icml" for job in jobs)
    keep_screenshot(page, "jobs-outcomes")
    outcomes.get_by_role("button", name="Close").click()
    expect(page.get_by_text("1 chosen")).to_be_visible()


def label(page: Page, text: str) -> None:
    page.get_by_role("button", name="Label", exact=True).click()
    page.get_by_role("dialog").get_by_role("textbox").fill(text)
    page.get_by_role("button", name="Label 3 jobs").click()
    page.get_by_role("dialog", name="3 of 3 labelled").get_by_role("button", name="Close").click()


def test_it_says_what_failed_and_recovers(page: Page, many: None) -> None:
    page.route(re.compile(r"/api/v1/(jobs|live)\?"), lambda route: route.abort())
    page.goto("/jobs?search=trial-")
    problem = page.get_by_role("alert")
    expect(problem.first).to_be_visible()
    page.unroute(re.compile(r"/api/v1/(jobs|live)\?"))
    problem.get_by_role("button", name="Try again").first.click()
    expect(row(page, "trial-1")).to_be_visible()


def test_everybody_can_use_it_light_and_dark_wide_and_narrow(page: Page, many: None) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    columns = "state,team,person,labels,submitted,ended,took,gpu-time,message"
    page.goto(f"/jobs?search=trial-&columns={columns}")
    expect(row(page, "trial-1")).to_be_visible()
    brand = page.get_by_role("link", name="Concertina, to the overview").bounding_box()
    title = page.get_by_role("heading", name="Jobs").bounding_box()
    assert brand is not None
    assert title is not None
    assert brand["x"] == title["x"]
    keep_screenshot(page, "jobs-1920")
    schemes: list[Literal["light", "dark"]] = ["light", "dark"]
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.reload()  # colours that are on their way to others are none that anybody reads
        expect(row(page, "trial-1")).to_be_visible()
        page.get_by_role("button", name="Columns").click()
        expect(page.get_by_role("group", name="Columns")).to_be_visible()
        assert violations(page) == []
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    assert violations(page) == []
    keep_screenshot(page, "jobs-narrow")
