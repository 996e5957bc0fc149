"""What does a container's description tell of its process, whatever befell its node?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cluster.docker_host.container import labels
from cluster.docker_host.container.observing import observed
from cluster.worker_host import Failing, Labels, ObservedProcess, ProcessPhase, ProcessRole

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WHO = Labels(process_id="w1", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1)


def seen(status: str = "exited", **told: Any) -> ObservedProcess:
    state = {
        "Status": status,
        "StartedAt": "2026-01-01T11:00:00.123456789Z",
        "FinishedAt": "2026-01-01T11:30:00Z",
        "ExitCode": 0,
        "OOMKilled": False,
        "Error": "",
    }
    own = labels.of_process(WHO, node="n1", installation="t")
    process = observed({"Config": {"Labels": own}, "State": {**state, **told}}, now=NOW)
    assert process is not None
    return process


@pytest.mark.parametrize(("told", "code"), [(0, 0), (1, 1), (83, 83), (137, -9), (254, 254)])
def test_an_exit_code_is_the_processes_own_or_its_signal(told: int, code: int) -> None:
    assert seen(ExitCode=told).exit_code == code


def test_nobody_saw_how_a_process_ended_whose_node_was_restarted() -> None:
    """Docker calls that 255 when it is back; the job's own code did nothing wrong."""
    assert seen(ExitCode=255).exit_code is None
    assert seen(ExitCode=255, OOMKilled=True).failing is Failing.OUT_OF_MEMORY


def test_nothing_that_a_node_with_a_fast_clock_tells_has_happened_after_now() -> None:
    later = {"StartedAt": "2026-01-01T12:05:00Z", "FinishedAt": "2026-01-01T12:06:00Z"}
    assert seen("running", **later).started_at == NOW
    ended = seen(**later)
    assert (ended.phase, ended.started_at, ended.ended_at) == (ProcessPhase.EXITED, NOW, NOW)


def test_a_process_does_not_end_before_it_starts() -> None:
    """When it was taken over is told by our clock, when it ended by its node's, which is slow."""
    ended = seen(StartedAt="2026-01-01T11:59:00Z", FinishedAt="2026-01-01T11:50:00Z")
    assert ended.ended_at == ended.started_at == NOW - timedelta(minutes=1)
