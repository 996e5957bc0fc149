"""Can everybody read on a job's page what its pools offered?"""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob

pytestmark = pytest.mark.timeout(600)

_NAMES: Final = ("hundredsofgpusofthenewestkindinbuilding7", "a100", "default")


def offer(pool: str, **said: Any) -> dict[str, Any]:
    return {
        "pool": pool,
        "is_chosen": False,
        "answer": "waits",
        "workers": 0,
        "speed": 2.0,
        "loss": 0.0,
        "is_measured": False,
        "dollars_per_gpu_hour": 0.0,
        **said,
    }


_OFFERS: Final = [
    offer(_NAMES[0], is_chosen=True, answer="owed", workers=1200, speed=1433.9, is_measured=True),
    offer(_NAMES[1], answer="refused", loss=0.7),
    offer(_NAMES[2], answer="not_asked", dollars_per_gpu_hour=2.5),
]


def test_a_table_of_pools_is_read_wide_and_narrow(page: Page, stack: RunningStack) -> None:
    """What its planner says is said by tests of the planner; here three pools say something."""

    def choosing(route: Route) -> None:
        answer = route.fetch()
        details = {"kind": "started", "team": None, "pools": _OFFERS}
        route.fulfill(response=answer, json={**answer.json(), "details": details})

    spec = {"name": "choosing", "command": ["sleep", "600"], "elastic": {"max_workers": 1}}
    with stack.client("vision") as client:
        job = SubmittedJob.submit(client, spec)
        page.route(f"**/api/v1/jobs/{job.job_id}/explain", choosing)
        page.route("**/api/v1/live?*", lambda route: route.abort())  # which would tell the truth
        page.goto(f"/jobs/{job.job_id}")
        table = page.get_by_role("table", name="Its pools, best first")
        expect(table.get_by_role("row")).to_have_count(1 + len(_OFFERS))
        expect(table.get_by_role("row", name=_NAMES[0])).to_contain_text("gets GPUs back for it")
        assert violations_in_both_themes(page, table) == []
        look_wide_and_narrow(page, table, name="pool-offers")
        job.cancel()
