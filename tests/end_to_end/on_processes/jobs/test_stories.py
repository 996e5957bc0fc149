"""What do people come to the dashboard for, and after how many clicks do they have it?

Each test is a question, asked on the overview by somebody who is signed in. Typing is no click.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.browser import NARROW
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until

pytestmark = pytest.mark.timeout(600)

SCRIPT: Final = str(Path(__file__).parents[2] / "scripts" / "chatty_regression.py")
GROWS: Final = "story-grows"
WAITS: Final = "story-waits"
BRIEF: Final = ("story-brief-one", "story-brief-two")


@dataclass(slots=True)
class Visit:
    """Somebody on the overview, whose clicks are counted."""

    page: Page
    clicks: int = 0

    def click(self, where: Locator) -> None:
        where.click()
        self.clicks += 1

    def go_to(self, page: str) -> None:
        """Follow the link at the top."""
        bar = self.page.get_by_role("navigation", name="Main")
        self.click(bar.get_by_role("link", name=page, exact=True))


@pytest.fixture
def visit(page: Page, jobs: None) -> Visit:
    page.goto("/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    return Visit(page)


@pytest.fixture(scope="module")
def jobs(stack: RunningStack) -> Iterator[None]:
    """One trains on two workers, one waits for the whole pool, and two have ended."""

    def spec(name: str, workers: tuple[int, int], **more: Any) -> dict[str, Any]:
        elastic = {"min_workers": workers[0], "max_workers": workers[1], **more}
        return {"name": name, "elastic": elastic}

    hot = {"registration_timeout": REGISTRATION}
    batch = {"global_batch_size": {"base": 16, "min": 16, "max": 64}}
    script = {"command": ["python", SCRIPT]}
    line = {"command": ["python", "-c", "print('all there is')"]}
    with stack.client("vision") as vision, stack.client("language") as language:
        brief = [
            SubmittedJob.submit(vision, {**spec(name, (1, 1), mode="restart"), **line})
            for name in BRIEF
        ]
        for job in brief:
            until(lambda job=job: job.is_in("completed"), what="a brief job is over")
        grows = SubmittedJob.submit(
            vision, {**spec(GROWS, (1, 2), **hot), **script, "batch": batch}
        )
        until(lambda: grows.trains_with(2) and grows.has_begun(), what="it trains on two workers")
        waits = SubmittedJob.submit(language, {**spec(WAITS, (4, 4)), **script})
        until(lambda: waits.document()["reason"] != "", what="it is known why it waits")
        yield
        waits.cancel()
        grows.cancel()
        until(lambda: grows.is_in("cancelled"), what="its GPUs are free")


def test_why_is_my_job_waiting(visit: Visit) -> None:
    row = visit.page.get_by_role("list", name="Queue").get_by_role("listitem")
    expect(row.filter(has_text=WAITS)).to_contain_text(re.compile("GPU"))
    assert visit.clicks == 0
    visit.click(row.get_by_role("link", name=WAITS))
    expect(visit.page.get_by_role("region", name="Why")).to_contain_text("Position in the queue")
    assert visit.clicks == 1


def test_how_did_its_workers_change_and_what_did_that_cost(visit: Visit) -> None:
    visit.click(visit.page.get_by_role("link", name=GROWS).first)
    changes = visit.page.get_by_role("table", name="Changes, newest first").locator("tbody")
    grown = changes.filter(has_text="2 workers").first
    expect(grown.locator("[data-label='stall']")).not_to_be_empty()  # a dash, if it began so
    assert visit.clicks == 1


def test_who_uses_our_gpus_now_and_this_month(visit: Visit) -> None:
    team = visit.page.get_by_role("listitem", name="Team vision")
    expect(team).to_contain_text("2")
    assert visit.clicks == 0
    visit.click(team.get_by_role("link").first)
    visit.click(visit.page.get_by_role("link", name="Usage", exact=True))
    expect(visit.page.get_by_text("beyond the guarantee")).to_be_visible()
    assert visit.clicks == 2


def test_what_would_another_quota_have_meant(visit: Visit) -> None:
    visit.go_to("Quotas")
    visit.page.get_by_label("GPUs guaranteed to vision", exact=True).fill("1")
    visit.click(visit.page.get_by_role("button", name="Preview", exact=True))
    told = visit.page.get_by_role("region", name="What it would have meant").get_by_role("status")
    expect(told.first).to_contain_text(re.compile("Waits for|Replays|would have|has run long"))
    assert visit.clicks == 2


def test_which_of_two_runs_was_better(visit: Visit) -> None:
    visit.go_to("Jobs")
    visit.page.get_by_label("Search jobs").fill("story-brief")
    rows = visit.page.get_by_role("grid", name="Jobs").locator("[data-row]")
    expect(rows).to_have_count(2)
    for number in range(2):
        visit.click(rows.nth(number).get_by_role("checkbox"))
    visit.click(visit.page.get_by_role("button", name="Compare", exact=True))
    expect(visit.page.get_by_role("table", name="Outcomes")).to_be_visible()
    assert visit.clicks == 4


def test_how_do_i_submit_a_job_from_here(visit: Visit, stack: RunningStack) -> None:
    visit.go_to("Jobs")
    visit.click(visit.page.get_by_role("link", name="Submit a job"))
    spec = "name: story-new\nteam: vision\ncommand: [sleep, '600']\n"
    visit.page.get_by_label("Spec as YAML").fill(spec)
    visit.click(visit.page.get_by_role("button", name="Submit", exact=True))
    expect(visit.page.get_by_role("heading", name="story-new")).to_be_visible()
    assert visit.clicks == 3
    with stack.client("vision") as client:
        SubmittedJob(client=client, job_id=visit.page.url.rpartition("/")[2]).cancel()


def test_where_is_last_weeks_job(visit: Visit) -> None:
    visit.go_to("Jobs")
    visit.page.get_by_label("Search jobs").fill("story-brief-two")
    expect(visit.page.get_by_role("link", name="story-brief-two")).to_be_visible()
    assert visit.clicks == 1


def test_how_do_i_take_log_and_metrics_home(visit: Visit) -> None:
    visit.click(visit.page.get_by_role("link", name=GROWS).first)
    for what, name in (("Whole log", f"{GROWS}.log"), ("CSV", f"{GROWS}-metrics.csv")):
        with visit.page.expect_download() as started:
            visit.click(visit.page.get_by_role("link", name=what, exact=True).first)
        assert started.value.suggested_filename == name
    assert visit.clicks == 3


def test_what_does_the_autoscaler_do(visit: Visit) -> None:
    visit.go_to("Autoscaler")
    changed = visit.page.get_by_role("region", name="What changed").get_by_role("button")
    expect(changed.filter(has_text=GROWS).first).to_be_visible()
    assert visit.clicks == 1


def test_how_do_things_stand_on_a_phone_at_night(visit: Visit) -> None:
    visit.page.set_viewport_size(NARROW)
    visit.page.reload()
    job = visit.page.get_by_role("region", name="Running").get_by_role("link", name=GROWS)
    expect(job).to_be_in_viewport()
    assert visit.clicks == 0
