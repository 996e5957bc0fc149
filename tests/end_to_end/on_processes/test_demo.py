"""Does the demo tell its story, on the screen of the dashboard too? Its own jobs, shortened."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from local_stack.demo import summary, workload
from local_stack.demo.conductor import Conductor
from local_stack.demo.scripts import Scripts, of_checkout
from local_stack.demo.workload import DemoJob
from playwright.sync_api import Page, expect

from tests.end_to_end.browser import keep_screenshot
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import REGISTRATION, until

SHORTER: dict[str, dict[str, Any]] = {
    "digits-cnn": {
        "arguments": ("--epochs", "8", "--width", "16"),
        "max_workers": 3,  # so many are waited for
        "max_batch": 128,  # else its few steps are too few
    },
    "text-transformer": {
        "arguments": (
            *("--epochs", "1", "--stretches", "4000", "--length", "64", "--layers", "1"),
            *("--learning-rate", "0.008"),
        ),
        "max_workers": 2,
        "max_batch": 64,
    },
}
PATIENCE = 600.0  # seconds
SLOWLY = str(Path(__file__).parents[1] / "scripts" / "slow_samples.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowScripts(Scripts):
    """They take their time until the file `seen` appears, and then no more of it than they need."""

    seen: Path

    def command(self, name: str, *arguments: str) -> list[str]:
        return [self.python, SLOWLY, str(self.seen), str(self.folder / name), *arguments]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientJob(DemoJob):
    """It may take as long to start as a machine takes that runs other tests as well."""

    def spec(self, **where: Any) -> dict[str, Any]:
        made = DemoJob.spec(self, **where)
        return {**made, "elastic": {**made["elastic"], "registration_timeout": REGISTRATION}}


def shortened() -> list[DemoJob]:
    """The first job of each team: one borrows, the other reclaims."""
    return [shorter(job) for job in workload.jobs() if job.name in SHORTER]


def shorter(job: DemoJob) -> DemoJob:
    told = {one.name: getattr(job, one.name) for one in fields(job)}
    arrival = job.arrival
    if arrival.after is not None:  # what it waits for is seen, however long it takes
        arrival = replace(arrival, at_the_latest_seconds=PATIENCE)
    return PatientJob(**{**told, **SHORTER[job.name], "arrival": arrival})


@pytest.mark.timeout(1800)
def test_the_dashboard_follows_the_demo_until_every_job_has_learned_what_it_should(
    stack: RunningStack, page: Page, tmp_path: Path
) -> None:
    jobs = shortened()
    usual = of_checkout(stack.checkout.root)
    scripts = SlowScripts(python=usual.python, folder=usual.folder, seen=tmp_path / "seen")
    conductor = Conductor(jobs, url=stack.url, tokens=stack.tokens, scripts=scripts)
    with contextlib.closing(conductor):
        conductor.prepare()
        until(lambda: both_train(conductor), seconds=PATIENCE, what="both teams train")
        look(page)
        scripts.seen.touch()
        until(lambda: is_over(conductor), seconds=1200, what="the demo is over")
        outcomes = [
            summary.DemoJobOutcome(planned=job, job=conductor.documents[job.name]) for job in jobs
        ]
        assert summary.show(
            outcomes, slots=conductor.slots, elapsed_seconds=conductor.elapsed_seconds
        )
    assert conductor.documents["digits-cnn"]["rescales"] > 0


def both_train(conductor: Conductor) -> bool:
    conductor.run_once()
    documents = conductor.documents
    return len(documents) == len(SHORTER) and all(job["workers"] for job in documents.values())


def is_over(conductor: Conductor) -> bool:
    conductor.run_once()
    return conductor.is_over


def look(page: Page) -> None:
    page.goto("/")
    assert_overview(page)
    page.get_by_role("link", name="digits-cnn").first.click()
    assert_job(page)


def assert_overview(page: Page) -> None:
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    for name in SHORTER:
        expect(page.get_by_role("link", name=name).first).to_be_visible()
    expect(page.get_by_text(re.compile("2 guaranteed")).first).to_be_visible()
    keep_screenshot(page, "demo-overview")


def assert_job(page: Page) -> None:
    expect(page.get_by_role("heading", name="digits-cnn")).to_be_visible()
    expect(page.get_by_text(re.compile("text-transformer")).first).to_be_visible()
    expect(page.get_by_text("Guarantee reclaimed").first).to_be_visible()
    keep_screenshot(page, "demo-job")
