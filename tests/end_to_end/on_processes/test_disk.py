"""A job writes more than it may, and is ended with a reason; another team's goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)
GREEDY = """\
with open("all-mine", "wb") as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
print("written", flush=True)
import signal
signal.pause()
"""
MODEST = """\
import pathlib, sys, time
print("up", flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.1)
"""


def test_a_job_that_writes_too_much_is_ended_and_the_other_goes_on(
    stack: RunningStack, tmp_path: Path
) -> None:
    def job(name: str, *words: str) -> dict[str, object]:
        return {
            "name": name,
            "command": ["python", "-S", "-c", *words],
            "elastic": {"mode": "restart"},
            "resources": {"disk_per_job": "32MiB"},
        }

    with stack.client("vision") as vision, stack.client("language") as language:
        modest = SubmittedJob.submit(language, job("modest", MODEST, str(tmp_path / "stop")))
        until(lambda: "up" in modest.log_lines(), what="the other job runs")
        greedy = SubmittedJob.submit(vision, job("greedy", GREEDY))
        until(lambda: greedy.is_in("failed"), what="it is ended")
        ended = greedy.document()
        assert (ended["reason"], ended["attempt"], ended["failures"]) == ("out_of_disk", 1, 0)
        assert "more than the 32MiB that it may write" in ended["message"]
        assert ended["disk_bytes"] > 32 << 20
        (tmp_path / "stop").touch()
        until(lambda: modest.is_in("completed"), what="the other job runs to its end")
