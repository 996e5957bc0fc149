"""Does the page of the autoscaler say what it changed, when and why, and how it was before?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations, violations_in_both_themes
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.live_page import events_of, wait_for_reads
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)

SENT = {"/api/v1/pools", "/api/v1/ticks", "/api/v1/cluster/prices"}
STRETCH = 20_000  # milliseconds
BEGINS: Final = datetime(2026, 1, 12, 20, tzinfo=UTC)  # when this stack did not run yet
COUNT: Final = 60  # ticks, ten minutes apart
RANGE: Final = "from=2026-01-12T20:00:00Z&to=2026-01-13T08:00:00Z"
_ADDED: Final = """
    INSERT INTO control_loop_tick (
        at, fence, observe_seconds, plan_seconds, apply_seconds, pools, decisions, held, alarm
    ) VALUES (%s, 1, 0.04, 0.013, 0.21, %s, %s, %s, %s)
"""
_GONE: Final = "DELETE FROM control_loop_tick WHERE at < '2026-01-14'"


@pytest.fixture(scope="module")
def night(stack: RunningStack) -> Iterator[None]:
    """Ticks of a night long ago, in which four jobs gave each other GPUs of a pool of 16."""
    names = ("night-digits", "night-bert", "night-speech", "night-small")
    jobs = []
    for number, name in enumerate(names):
        with stack.client("language" if number % 2 else "vision") as client:
            elastic = {"min_workers": 4, "max_workers": 4}
            spec = {"name": name, "command": ["sleep", "600"], "elastic": elastic}
            jobs.append(SubmittedJob.submit(client, spec).job_id)
            client.post(f"/api/v1/jobs/{jobs[-1]}/cancel", json={}).raise_for_status()
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        for number in range(COUNT):
            cursor.execute(_ADDED, _tick(number, jobs))
    yield
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_GONE)


def _tick(number: int, jobs: list[str]) -> tuple[Any, ...]:
    sizes = [[6, 4, 2, 2], [4, 6, 2, 2], [4, 6, 4, 0], [2, 6, 4, 4]]
    before, after = sizes[number % 4], sizes[(number + 1) % 4]
    held = dict(zip(jobs, zip(before, after, strict=True), strict=True))
    changes = [
        {
            "job_id": job,
            "action": "start" if one == 0 else "pause" if other == 0 else "rescale",
            "reason": "reclaim_guarantee" if other < one else "best_allocation",
            "message": f"It goes from {one} to {other} GPUs, because that is worth more.",
            "explanation": {"gain": (other - one) / 8, "stall_seconds": 1.2},
        }
        for job, (one, other) in held.items()
        if one != other
    ]
    pool = {"pool": "default", "policy": "completion_time", "value": 4.0, "upper_bound": 4.0}
    numbers = {"gap": 0.0, "gpus_total": 16, "gpus_used": sum(after), "price": 1 + number % 7 / 3}
    alarm = "no_gpu_twice: default-1:0 is used twice" if number == 30 else ""
    at = BEGINS + timedelta(minutes=10 * number)
    return at, *map(json.dumps, ([{**pool, **numbers}], changes, held)), alarm


def test_what_is_decided_now_appears_by_itself(page: Page, stack: RunningStack) -> None:
    sent = events_of(page)
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Autoscaler").click()
    expect(page.get_by_role("heading", name="Autoscaler")).to_be_visible()
    wait_for_reads(page, sent, SENT)
    with stack.client("vision") as client:
        elastic = {"min_workers": 1, "max_workers": 1}
        spec = {"name": "seen-to-start", "command": ["sleep", "600"], "elastic": elastic}
        job = SubmittedJob.submit(client, {**spec, "priority": 100})
        moment = page.get_by_role("region", name="What changed")
        row = moment.get_by_role("button", name=re.compile("seen-to-start starts on 1 GPU"))
        row.click()
        changes = page.get_by_role("list", name="Changes of this moment")
        expect(changes).to_contain_text("seen-to-start starts on 1 GPU")
        expect(page.get_by_role("img", name=re.compile("seen-to-start 0 → 1"))).to_be_visible()
        keep_screenshot(page, "autoscaler-now")
        assert violations(page) == []
        job.cancel()


def test_it_is_sent_what_changes_and_asks_for_nothing(page: Page) -> None:
    sent, asked = events_of(page), list[str]()
    page.clock.install()
    page.goto("/autoscaler")
    wait_for_reads(page, sent, SENT)
    page.on("request", lambda request: asked.append(request.url))

    def asks_for_nothing() -> bool:
        """Its clock is put forward; a new tick is looked into once, and all else is sent."""
        asked.clear()
        page.clock.run_for(STRETCH)
        page.wait_for_timeout(50)
        return all("/api/v1/live?" in url for url in asked)  # which comes anew at times

    until(asks_for_nothing, what="a stretch in which it asks for nothing")


def test_a_night_is_scrubbed_by_keys_and_stands_in_the_address(page: Page, night: None) -> None:
    page.goto(f"/autoscaler?{RANGE}")
    rows = page.get_by_role("list", name="Moments of change").get_by_role("button")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show earlier ones").click()
    expect(rows).to_have_count(COUNT)
    changes = page.get_by_role("list", name="Changes of this moment")
    rows.nth(1).click()
    expect(changes).to_contain_text("night-small starts on 4 GPUs")
    expect(changes).to_contain_text("because that is worth more")
    assert violations_in_both_themes(page, changes.get_by_role("listitem").first) == []
    keep_screenshot(page, "autoscaler-night-light")
    address = page.url
    assert "at=2026-01-13T05%3A40" in address

    slider = page.get_by_role("slider", name="Moment")
    page.get_by_role("button", name="Change before").click()
    expect(slider).to_have_attribute("aria-valuetext", "13 Jan 2026, 05:30:00")
    page.get_by_role("button", name="Next change").click()
    expect(slider).to_have_attribute("aria-valuetext", "13 Jan 2026, 05:40:00")
    slider.focus()
    page.keyboard.press("Home")
    expect(changes).to_contain_text("night-digits 6 → 4 GPUs")
    page.get_by_role("button", name="Change before").click()
    expect(page.get_by_text("No earlier change in this time")).to_be_visible()
    assert "at=2026-01-12T20%3A00" in page.url

    rows.filter(has_text="Alarm").click()
    expect(page.get_by_text("default-1:0 is used twice").first).to_be_visible()


def test_a_night_can_be_looked_at_on_a_phone_and_on_a_wide_screen(page: Page, night: None) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"/autoscaler?{RANGE}")
    changes = page.get_by_role("list", name="Changes of this moment")
    expect(changes.get_by_role("listitem").first).to_be_visible()
    keep_screenshot(page, "autoscaler-night-dark")
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    assert violations(page) == []
    keep_screenshot(page, "autoscaler-narrow")
    page.get_by_role("button", name="Earlier").first.click()
    expect(page.get_by_text("Nothing was changed in this time").first).to_be_visible()
