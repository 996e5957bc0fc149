"""Do very many jobs stay fluid in a browser? Run `python -m benchmarks.jobs_page [--jobs 100000]`.

A service of its own has a hundred jobs that run and so many that ended. A headless Chromium opens
its page of jobs, scrolls through thousands of rows, filters and sorts. Prints what that took,
beside goals. What is counted of the main thread is its processor time, so that a busy machine
changes it little; `--screens` says how far is scrolled. The dashboard has to be built: `./dev up`
does it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from playwright.sync_api import Page, sync_playwright

from benchmarks.command_line.service import listening
from tools.screenshots.camera import BROWSERS

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING: Final = 100
NAME, PASSWORD = "ada", "for-benchmarks-only"
WIDTH, HEIGHT = 1280, 800
NOTCH: Final = 400  # pixels of one turn of the wheel
_ENDED: Final = """
    INSERT INTO jobs_job
    SELECT made.* FROM jobs_job job, generate_series(1, %s) n,
    LATERAL jsonb_populate_record(job, jsonb_build_object(
        'id', 'made' || n,
        'name', 'trial-' || n,
        'submitted_by', 'person-' || n %% 50,
        'submitted_at', now() - n * interval '1 min' - interval '1 hour',
        'finished_at', now() - n * interval '1 min',
        'state', CASE WHEN n %% 10 = 0 THEN 'failed' ELSE 'completed' END,
        'reason', CASE WHEN n %% 10 = 0 THEN 'script_failed' ELSE 'completed' END,
        'labels', jsonb_build_object('net', (ARRAY['resnet', 'bert'])[1 + n %% 2])
    )) made
    WHERE job.id = (SELECT min(id) FROM jobs_job)
"""
_WATCH_FRAMES: Final = """
    window.watched = {late: 0, frames: 0, longest: 0};
    new PerformanceObserver(list => {
        for (const {duration} of list.getEntries())
            window.watched.longest = Math.max(window.watched.longest, duration);
    }).observe({entryTypes: ["longtask"]});
    let before = performance.now();
    const look = now => {
        window.watched.frames += 1;
        window.watched.late += now - before > 50 ? 1 : 0;
        before = now;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a part of the story took."""

    seconds: float
    main_thread: float  # seconds of its processor time
    requests: int


class Watcher:
    """Measures what a page does."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._asked: list[str] = []
        self._wire = page.context.new_cdp_session(page)
        self._wire.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.on("request", lambda request: self._asked.append(request.url))

    @contextmanager
    def during(self, told: list[Spent]) -> Iterator[None]:
        began, before, asked = time.monotonic(), self._main_thread(), len(self._asked)
        yield
        spent = Spent(
            seconds=time.monotonic() - began,
            main_thread=self._main_thread() - before,
            requests=len(self._asked) - asked,
        )
        told.append(spent)

    def _main_thread(self) -> float:
        metrics = self._wire.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--screens", type=int, default=100)
    options = parser.parse_args()
    with listening(RUNNING) as service:
        _fill(options.jobs)
        _look(service.url, jobs=options.jobs, screens=options.screens)


def _look(url: str, *, jobs: int, screens: int) -> None:
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        context = browser.new_context(base_url=url, viewport={"width": WIDTH, "height": HEIGHT})
        context.set_default_timeout(60_000)
        page = context.new_page()
        _sign_in(page)
        for line in _story(page, jobs=jobs, screens=screens):
            print(line)
        browser.close()


def _fill(jobs: int) -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415 - once Django is set up
    from django.db import connection  # noqa: PLC0415

    User.objects.create_superuser(NAME, password=PASSWORD)
    with connection.cursor() as cursor:
        cursor.execute(_ENDED, [jobs])
        cursor.execute("ANALYZE jobs_job")


def _sign_in(page: Page) -> None:
    page.goto("/login")
    page.get_by_label("User name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Overview").wait_for()


def _story(page: Page, *, jobs: int, screens: int) -> Iterator[str]:
    opened, scrolled, filtered, sorted_by, idle = (list[Spent]() for _ in range(5))
    watcher = Watcher(page)
    rows = page.get_by_role("grid", name="Jobs").locator("[data-row]")
    with watcher.during(opened):
        page.get_by_role("link", name="Jobs", exact=True).click()
        rows.first.wait_for()
    page.get_by_text(re.compile(r"^[0-9,]+ jobs$")).wait_for()
    with watcher.during(idle):
        page.wait_for_timeout(10_000)
    page.evaluate(_WATCH_FRAMES)
    with watcher.during(scrolled):
        _scroll(page, screens)
    frames: dict[str, Any] = page.evaluate("window.watched")
    drawn = rows.count()
    with watcher.during(filtered):
        page.get_by_role("button", name="State").click()
        page.get_by_role("group", name="States").get_by_label("failed").click()
        rows.filter(has_text="failed").first.wait_for()
    page.keyboard.press("Escape")
    with watcher.during(sorted_by):
        page.locator("[role=columnheader]:not([aria-sort]) button").first.click()
        page.wait_for_url("**order=*")
        rows.filter(has_text="failed").first.wait_for()
    yield f"| {jobs:,} jobs | | goal |"
    yield "|---|---|---|"
    yield _row("open: main thread, s", opened[0].main_thread, 1.5)
    yield _row("at rest: main thread, %", 100 * idle[0].main_thread / idle[0].seconds, 40)
    yield _row("at rest: requests a minute", 6 * idle[0].requests, 12)
    yield _row("scrolling: main thread, ms a screen", 1000 * scrolled[0].main_thread / screens, 40)
    yield _row("scrolling: frames later than 50 ms, %", 100 * frames["late"] / frames["frames"], 5)
    yield _row("scrolling: longest task, ms", frames["longest"], 200)
    yield _row("scrolling: requests a screen", scrolled[0].requests / screens, 0.5)
    yield _row("rows that are drawn", drawn, 60)
    yield _row("filter: main thread, s", filtered[0].main_thread, 1)
    yield _row("filter: on the clock, s", filtered[0].seconds, 3)
    yield _row("sort: main thread, s", sorted_by[0].main_thread, 0.5)
    yield _row("sort: on the clock, s", sorted_by[0].seconds, 2)


def _scroll(page: Page, screens: int) -> None:
    """Turn the wheel as fast as a person does who looks for something."""
    page.mouse.move(WIDTH / 2, HEIGHT / 2)
    for _ in range(screens * HEIGHT // NOTCH):
        page.mouse.wheel(0, NOTCH)
        page.wait_for_timeout(100)


def _row(what: str, value: float, goal: float) -> str:
    return f"| {what} | {value:.4g} | ≤ {goal:g}: {'yes' if value <= goal else 'no'} |"


if __name__ == "__main__":
    main()
