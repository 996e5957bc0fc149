"""Can a job be asked for by a form, by text, or both, and is it told what would become of it?"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import (
    look_wide_and_narrow,
    violations,
    violations_in_both_themes,
)
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob

pytestmark = pytest.mark.timeout(600)

TEXT: Final = """# tries the form
name: by-form
team: vision
command: [sleep, "600"]
elastic: {min_workers: 1, max_workers: 1}
"""


def opened(page: Page) -> None:
    page.goto("/submit")
    expect(page.get_by_role("textbox", name="name", exact=True)).to_be_visible()


def write(page: Page, text: str) -> None:
    page.get_by_label("Spec as YAML").fill(text)


def written(page: Page) -> str:
    text: str = page.get_by_label("Spec as YAML").input_value()
    return text


def test_form_and_text_are_two_views_of_one_spec(page: Page) -> None:
    opened(page)
    write(page, TEXT)
    expect(page.get_by_role("textbox", name="name", exact=True)).to_have_value("by-form")
    page.get_by_role("spinbutton", name="Most workers").fill("3")
    expect(page.get_by_label("Spec as YAML")).to_have_value(
        TEXT.replace("max_workers: 1", "max_workers: 3")
    )
    slider = page.get_by_role("slider", name="Fewest workers, on a line")
    slider.press("ArrowRight")
    assert "min_workers: 2" in written(page)
    assert written(page).startswith("# tries the form")
    page.get_by_label("team", exact=True).select_option("language")
    assert "team: language" in written(page)
    page.reload()  # the draft survives it
    assert "min_workers: 2" in written(page)

    wrong = "name: by-form\nelastic: {min_workers: 2\n"
    write(page, wrong)
    expect(page.get_by_text(re.compile("The text cannot be read. Line"))).to_be_visible()
    expect(page.get_by_role("textbox", name="name", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
    assert written(page) == wrong
    write(page, TEXT)
    expect(page.get_by_role("textbox", name="name", exact=True)).to_be_enabled()


def test_it_is_told_what_would_become_of_it_and_what_is_wrong(page: Page) -> None:
    opened(page)
    told = page.get_by_role("region", name="What would become of it")
    begun = re.compile(r"^name: first\nteam: \S+\n")  # whoever is in several teams chooses one
    expect(page.get_by_label("Spec as YAML")).to_have_value(begun)
    write(page, TEXT)
    expect(told).to_contain_text(re.compile("Starts now on 1 worker|Waits|Nobody can tell"))
    assert violations_in_both_themes(page, told.get_by_role("strong")) == []
    write(page, TEXT.replace("max_workers: 1", "max_workers: 20000"))
    field = page.get_by_role("group", name=re.compile("^Workers"))
    expect(field).to_contain_text("10000")
    expect(told).to_contain_text("elastic.max_workers")
    assert violations(page) == []


def test_a_double_click_submits_once_and_leads_to_the_job(page: Page, stack: RunningStack) -> None:
    opened(page)
    write(page, TEXT)
    keys: list[Any] = []
    page.on(
        "request",
        lambda request: (
            keys.append(request.headers.get("idempotency-key"))
            if request.method == "POST" and request.url.endswith("/api/v1/jobs")
            else None
        ),
    )
    page.get_by_role("button", name="Submit", exact=True).dblclick()
    expect(page.get_by_role("heading", name="by-form")).to_be_visible()
    assert keys
    assert len(set(keys)) == 1
    job_id = page.url.rpartition("/")[2]
    with stack.client("vision") as client:
        job = SubmittedJob(client=client, job_id=job_id)
        found = client.get("/api/v1/jobs", params={"search": "by-form"}).json()["items"]
        assert [one["id"] for one in found] == [job_id]
        page.get_by_role("button", name="Run again, edited").click()
        expect(page.get_by_role("textbox", name="name", exact=True)).to_have_value("by-form")
        expect(page.get_by_text(f"with the spec of job {job_id}")).to_be_visible()
        job.cancel()


def test_it_is_looked_at_wide_and_narrow(page: Page) -> None:
    opened(page)
    write(page, TEXT + "batch: {global_batch_size: {base: 64, min: 32, max: 512}}\n")
    told = page.get_by_role("region", name="What would become of it").get_by_role("strong")
    look_wide_and_narrow(page, told, name="submit")
