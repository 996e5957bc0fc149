"""Does a job's page tell how many workers it needed, and run it again with as many?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.browser import keep_screenshot
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)

# An hour with each of 1, 2 and 4 workers, six hours with 8, which were hardly faster.
_RAN: Final = """
    INSERT INTO jobs_generation (
        job_id, number, attempt, revision, workers, worker_ids, global_batch_size, reason, message,
        began_at, ended_at, step, stall_seconds
    ) SELECT %(job)s, n, 1, n, workers, '[]', 64, 'job_arrived', '',
        now() - interval '10 h' + n * interval '1 h',
        now() - interval '10 h' + (n + hours) * interval '1 h', n * 1000, 0
    FROM (VALUES (1, 1, 1), (2, 2, 1), (3, 4, 1), (4, 8, 6)) AS ran(n, workers, hours)
"""
_MEASURED: Final = """
    INSERT INTO jobs_measurement (
        job_id, gpu_type, workers, nodes, global_batch_size, steps, step_seconds, updated_at
    ) SELECT %(job)s, pool.gpu_type, workers, 1, 64, 500, seconds, now()
    FROM jobs_job JOIN cluster_pool AS pool ON pool.id = pool_id,
        (VALUES (1, 1.0), (2, 0.52), (4, 0.29), (8, 0.27)) AS measured(workers, seconds)
    WHERE jobs_job.id = %(job)s
"""
_ENDED: Final = """
    UPDATE jobs_job SET state = 'completed', reason = 'completed',
        started_at = now() - interval '9 h', submitted_at = now() - interval '10 h',
        finished_at = now(), step = 4000, gpu_seconds = 198000
    WHERE id = %(job)s
"""
_FORGOTTEN: Final = (
    "DELETE FROM jobs_measurement WHERE job_id = %(job)s",
    "DELETE FROM jobs_generation WHERE job_id = %(job)s",
    """UPDATE jobs_job SET state = 'cancelled', reason = 'cancelled_by_user', started_at = NULL,
        gpu_seconds = 0 WHERE id = %(job)s""",
)


@pytest.fixture
def ran(stack: RunningStack) -> Iterator[str]:
    """The id of a job that had up to 8 workers, of which 4 brought next to nothing."""
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    spec = {
        "name": "grown",
        "command": ["python", "train.py"],
        "elastic": {"min_workers": 1, "max_workers": 8},
    }
    with (
        stack.client("vision") as client,
        psycopg2.connect(address) as database,
        database.cursor() as cursor,
    ):
        job = SubmittedJob.submit(client, spec)
        job.cancel()
        until(lambda: job.is_in("cancelled"), what="it is cancelled")
        for statement in (_RAN, _MEASURED, _ENDED):
            cursor.execute(statement, {"job": job.job_id})
    yield job.job_id
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        for statement in _FORGOTTEN:
            cursor.execute(statement, {"job": job.job_id})


def test_the_knee_is_drawn_and_the_job_is_run_again_with_fewer_workers(
    stack: RunningStack, page: Page, ran: str
) -> None:
    page.goto(f"/jobs/{ran}")
    card = page.get_by_role("region", name="How many workers it needed")
    expect(card).to_contain_text("Beyond 4 workers it wastes")
    expect(card).to_contain_text("were spent with an efficiency below 50 %")
    curve = card.get_by_role("img", name="Samples per second by number of workers")
    expect(curve).to_have_accessible_name(
        "Samples per second by number of workers; the knee is at 4"
    )
    expect(curve.locator("text", has_text="knee: 4 workers")).to_be_visible()
    sizes = card.get_by_role("table", name="What each size was worth")
    expect(sizes.get_by_role("row")).to_have_count(5)
    assert violations_in_both_themes(page, card) == []
    look_wide_and_narrow(page, card, name="size-advice")
    card.get_by_role("button", name="Run again so").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("with 1 to 4 workers")
    keep_screenshot(page, "run-again-so")
    dialog.get_by_role("button", name="Run again so").click()
    expect(page).not_to_have_url(f"/jobs/{ran}")
    page.wait_for_url(lambda url: "/jobs/" in url and ran not in url)
    with stack.client("vision") as client:
        again = SubmittedJob(client=client, job_id=page.url.rpartition("/")[2])
        elastic = again.document()["resolved_spec"]["elastic"]
        assert (elastic["min_workers"], elastic["max_workers"]) == (1, 4)
        again.cancel()
