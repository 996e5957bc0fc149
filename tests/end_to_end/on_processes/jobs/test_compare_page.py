"""Does the page that compares jobs show their curves, what differs, and how they ended?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Download, Page, expect

from tests.end_to_end.accessibility import (
    look_wide_and_narrow,
    violations,
    violations_in_both_themes,
)
from tests.end_to_end.live_page import events_of, wait_for_reads
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)

STRETCH: Final = 20_000  # milliseconds
NAMES: Final = ("compared-base", "compared-fast", "compared-large", "compared-fast")
_TRAINED: Final = """
    INSERT INTO jobs_metricpoint (
        job_id, at, generation, step, epoch, samples, samples_per_second, step_seconds,
        compute_seconds, communication_seconds, learning_rate, "values"
    )
    SELECT %(job)s, now() - interval '50 min' + n * interval '9 seconds', 1, n * 10, 0, n * 640,
        %(pace)s, 0.1, 0.08, 0.02, 0.1 / (1 + n), jsonb_build_object(
            'loss', %(loss)s * (0.3 + exp(-n / %(half)s) + 0.03 * sin(n)),
            'accuracy', 1 - exp(-n / %(half)s)
        )
    FROM generate_series(0, %(points)s) AS n
"""
_RAN: Final = """
    INSERT INTO jobs_generation (
        job_id, number, attempt, revision, workers, worker_ids, global_batch_size, reason, message,
        began_at, ended_at, step, stall_seconds
    ) VALUES (%(job)s, 1, 1, 1, %(workers)s, '[]', 64, 'job_arrived', '',
        now() - interval '50 min', now() - interval '5 min', 0, %(workers)s)
"""
_ENDED: Final = """
    UPDATE jobs_job SET state = 'completed', reason = 'completed',
        started_at = now() - interval '50 min', submitted_at = now() - interval '55 min',
        finished_at = now() - interval '5 min', gpu_seconds = 2700 * %(workers)s,
        step = %(points)s * 10, "values" = '{"loss": 0.4, "accuracy": 0.9}', rescales = %(workers)s
    WHERE id = %(job)s
"""
_LINES_OF_EACH_PART: Final = """cell => [...cell.childNodes].filter(one => one.data).map(one => {
    const range = document.createRange();
    range.selectNode(one);
    return range.getClientRects().length;
})"""
_INDENT: Final = """button => button.getBoundingClientRect().x
    - button.parentElement.parentElement.getBoundingClientRect().x"""
_FORGOTTEN: Final = (
    "DELETE FROM jobs_metricpoint WHERE job_id = ANY(%s)",
    "DELETE FROM jobs_generation WHERE job_id = ANY(%s)",
    """UPDATE jobs_job SET state = 'cancelled', reason = 'cancelled_by_user', started_at = NULL,
        gpu_seconds = 0 WHERE id = ANY(%s)""",
)


@pytest.fixture(scope="module")
def trained(stack: RunningStack) -> Iterator[list[str]]:
    """The ids of four jobs that have trained, of which the last has the spec of the second."""
    ids = []
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with (
        stack.client("vision") as client,
        psycopg2.connect(address) as database,
        database.cursor() as cursor,
    ):
        for number, name in enumerate(NAMES):
            is_fast = name == "compared-fast"
            spec = {
                "name": name,
                "command": ["python", "train.py", "--lr", "0.3" if is_fast else "0.1"],
                "elastic": {"min_workers": 4, "max_workers": 8 if name == "compared-large" else 4},
                "env": {"LR": "0.3"} if is_fast else {},
            }
            job = SubmittedJob.submit(client, spec)
            job.cancel()
            until(lambda job=job: job.is_in("cancelled"), what="it is cancelled")
            ids.append(job.job_id)
            trained = {
                "job": job.job_id,
                "loss": 1 + number / 8,
                "half": 30.0 + 25 * number,
                "pace": 400.0 - 50 * number,
                "points": 300 - 40 * number,
                "workers": number + 1,
            }
            for statement in (_TRAINED, _RAN, _ENDED):
                cursor.execute(statement, trained)
    yield ids
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        for statement in _FORGOTTEN:  # the stack's other jobs are predicted by those that ended
            cursor.execute(statement, [ids])


def test_jobs_are_chosen_in_the_list_and_compared(page: Page, trained: list[str]) -> None:
    asked: list[str] = []
    page.goto("/jobs?search=compared-")
    rows = page.get_by_role("grid", name="Jobs").locator("[data-row]")
    expect(rows).to_have_count(len(trained))
    boxes = rows.get_by_role("checkbox")
    boxes.nth(0).click()
    expect(page.get_by_role("button", name="Compare", exact=True)).to_be_disabled()
    page.get_by_label("Choose all jobs of the list").click()
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    chosen = page.get_by_role("list", name="Jobs that are compared")
    expect(chosen.get_by_role("listitem")).to_have_count(len(trained))
    curves = page.get_by_role("img", name=re.compile("Loss of .* over step"))
    expect(curves.locator("svg")).to_be_visible()
    for letter in "ABCD":  # at the ends of curves
        expect(curves.locator("text", has_text=re.compile(f"^{letter} +compared-"))).to_be_visible()
    outcomes = page.get_by_role("table", name="Outcomes")
    expect(outcomes.get_by_role("row", name=re.compile("^Steps"))).to_contain_text("3,000")
    assert len({url for url in asked if "jobs:compare" in url}) == 1  # however many jobs
    assert not [url for url in asked if re.search("/jobs/[^/?]+/(metrics|generations)", url)]
    assert violations_in_both_themes(page, curves) == []


def test_what_differs_is_told_and_how_much_is_the_same(page: Page, trained: list[str]) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/compare?jobs={','.join(trained[:3])}")
    differs = page.get_by_role("table", name="What differs")
    row = differs.get_by_role("row", name=re.compile("^elastic.max_workers"))
    expect(row).to_have_text("elastic.max_workers448")
    expect(differs.get_by_role("row", name=re.compile("^command"))).to_contain_text("--lr 0.3")
    expect(differs.get_by_role("row", name=re.compile("^env.LR"))).to_contain_text("0.3")
    expect(differs.get_by_role("row", name=re.compile("min_workers"))).to_have_count(0)
    expect(page.get_by_text(re.compile(r"^\d+ fields of their specs are the same"))).to_be_visible()
    page.get_by_role("button", name="Copy as CSV: what differs").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert "elastic.max_workers,4,4,8" in page.evaluate("navigator.clipboard.readText()")
    page.goto(f"/compare?jobs={trained[1]},{trained[3]}")
    expect(page.get_by_text("Their specs are the same", exact=True)).to_be_visible()


def test_what_is_chosen_stands_in_the_address_and_curves_can_be_taken_along(
    page: Page, trained: list[str]
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/compare?jobs={','.join(trained[:3])}")
    page.get_by_label("Metric").select_option("accuracy")
    for chosen in ("GPU-hours", "Log"):
        page.get_by_role("radio", name=chosen).click(force=True)
        expect(page.get_by_role("radio", name=chosen)).to_be_checked()
    curves = page.get_by_role("img", name=re.compile("Accuracy of .* over gpu-hours"))
    expect(curves.locator("svg")).to_be_visible()
    expect(page).to_have_url(re.compile("metric=accuracy&over=gpu-hours&scale=log$"))
    outcomes = page.get_by_role("table", name="Outcomes")
    expect(outcomes.get_by_role("row", name=re.compile("^accuracy, highest"))).to_be_visible()
    page.reload()
    expect(curves.locator("svg")).to_be_visible()
    page.get_by_role("button", name="Copy as CSV: the curves").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied[0] == "job,id,step,samples,seconds,gpu_hours,accuracy"
    assert copied[1].startswith(f"compared-base,{trained[0]},")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="PNG").click()
    saved: Download = downloading.value
    assert saved.suggested_filename == "accuracy of 3 jobs.png"
    assert saved.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_label("Metric").select_option("Throughput, samples/s")
    expect(page.get_by_role("img", name=re.compile("Throughput"))).to_be_visible()
    expect(page.get_by_label("Metric")).to_have_value("Throughput, samples/s")
    page.get_by_role("button", name="Take compared-large away").click()
    expect(page.get_by_role("link", name="compared-large")).to_have_count(0)
    expect(page).not_to_have_url(re.compile(trained[2]))


def test_a_job_is_compared_with_another_of_its_name_by_keys(page: Page, trained: list[str]) -> None:
    page.goto(f"/jobs/{trained[3]}")
    page.get_by_role("button", name="Compare with …").press("Enter")
    expect(page.get_by_text("Add another job to compare it with.")).to_be_visible()
    page.get_by_role("button", name="Add a job").press("Enter")
    found = page.get_by_role("list", name="Jobs found").get_by_role("button")
    expect(found).to_have_count(1)  # of the same name, of which it may be a later run
    assert violations(page) == []
    found.press("Enter")
    expect(page.get_by_text("Add another job to compare it with.")).to_have_count(0)
    expect(page).to_have_url(re.compile(f"jobs={trained[3]}%2C{trained[1]}"))


def test_it_says_what_cannot_be_compared_and_shows_the_others(
    page: Page, trained: list[str]
) -> None:
    page.goto("/compare")
    expect(page.get_by_text("Choose the jobs to compare")).to_be_visible()
    page.goto(f"/compare?jobs={trained[0]},nosuchjob,{trained[1]}")
    problem = page.get_by_role("alert").filter(has_text="nosuchjob")
    expect(problem).to_contain_text("or it is of a team that you do not see")
    chosen = page.get_by_role("list", name="Jobs that are compared").get_by_role("listitem")
    expect(chosen).to_have_count(2)
    problem.get_by_role("button", name="Take nosuchjob away").click()
    expect(problem).to_have_count(0)
    many = [*trained, *(f"other{number}" for number in range(8))]
    page.goto(f"/compare?jobs={','.join(many)}")
    expect(page.get_by_text("12 jobs are named, and 10 can be compared")).to_be_visible()
    expect(chosen).to_have_count(len(trained))


def test_it_is_sent_what_changes_while_a_job_lives(
    page: Page, stack: RunningStack, trained: list[str]
) -> None:
    elastic = {"min_workers": 4, "max_workers": 4}
    with stack.client("vision") as client:
        spec = {"name": "waits-to-be-compared", "command": ["sleep", "600"], "elastic": elastic}
        job = SubmittedJob.submit(client, spec)
        job.ask("pause")
        sent, asked = events_of(page), list[str]()
        page.clock.install()
        page.goto(f"/compare?jobs={trained[0]},{job.job_id}")
        wait_for_reads(page, sent, {"/api/v1/jobs:compare"})
        page.on("request", lambda request: asked.append(request.url))

        def asks_for_nothing() -> bool:
            asked.clear()
            page.clock.run_for(STRETCH)
            page.wait_for_timeout(50)
            return all("/api/v1/live?" in url for url in asked)

        until(asks_for_nothing, what="a stretch in which it asks for nothing")
        job.cancel()
        cancelled = page.get_by_role("table", name="Outcomes").get_by_role("cell", name="cancelled")
        expect(cancelled.first).to_be_visible()
    reads = [event for event in sent if "jobs:compare" in json.loads(event).get("read", "")]
    assert reads


def test_it_is_looked_at_wide_and_narrow(page: Page, trained: list[str]) -> None:
    address = f"/compare?jobs={','.join(trained)}"
    curves = page.get_by_role("img", name=re.compile("Loss of ")).locator("svg")
    page.goto(address)
    look_wide_and_narrow(page, curves, name="compare")
    copies = page.get_by_role("button", name="Copy as CSV: what differs")
    assert copies.evaluate(_INDENT) == 0  # what it says once it has copied takes no room before
    field = page.get_by_role("rowheader", name="elastic.max_workers")
    assert field.evaluate(_LINES_OF_EACH_PART).count(1) == 3  # broken between its words alone
