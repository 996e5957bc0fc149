"""Does one trace lead through all processes of the service, and into none of a job's?"""

from __future__ import annotations

import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until
from tests.tracing.receiver import OtlpReceiver

TRACE, CALLER = "7af92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SHOWS = "import os; print('sees', sorted(name for name in os.environ if 'OTEL' in name))"
pytestmark = pytest.mark.timeout(600)


def test_the_trace_of_a_pipeline_shows_where_the_time_of_its_job_went(
    stack: RunningStack, collector: OtlpReceiver
) -> None:
    spec = {
        "name": "traced-one",
        "command": ["python", "-c", SHOWS],
        "elastic": {"mode": "restart"},
    }
    with stack.client("vision") as client:
        job = SubmittedJob.submit(client, spec, traceparent=f"00-{TRACE}-{CALLER}-01")
        until(lambda: job.is_in("completed"), what="it is over")
        assert "sees []" in job.log_lines()
    spans = collector.wait_for(
        TRACE, "submit", "queued", "plan", "starting", "start workers", "stopping"
    )
    by_name = {one.name: one for one in spans}
    assert by_name["submit"].parent_id == CALLER
    assert by_name["start workers"].parent_id == by_name["starting"].span_id
    assert {one.attributes["concertina.job"] for one in spans} == {job.job_id}
    assert {one.service for one in spans} == {"concertina"}
    ticks = {one.span_id for one in list(collector.spans) if one.name == "tick"}
    assert set(by_name["plan"].linked) <= ticks
    assert by_name["plan"].linked
