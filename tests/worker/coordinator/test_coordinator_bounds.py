"""Does a coordinator forget, cut and drop in time, so that its next report is always taken?"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from concertina_worker.coordinator.connections.held_call import HttpWaker
from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import (
    HttpService,
    ReportRefusedError,
    ServiceUnavailableError,
)
from concertina_worker.coordinator.connections.synchronising import Synchroniser
from concertina_worker.coordinator.knowledge.crew import MOST_GONE
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.knowledge.report_size import within_bounds
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.protocol import (
    LARGEST_REPORT_BYTES,
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
    Desired,
    MeasurementReport,
    SyncReport,
)
from concertina_worker.wire import ProtocolError
from jobs.reports.sync_report import CheckedSyncReport as ServiceReport
from tests.worker.coordinator.service_answers import answering
from tests.worker.coordinator_story import Story


def _progress(step: int, **logged: Any) -> dict[str, Any]:
    metric = {
        **dict.fromkeys(("samples_per_second", "step_seconds", "learning_rate", "epoch"), 1.0),
        **dict.fromkeys(("compute_seconds", "communication_seconds"), 0.5),
        "at": 1.0,
        "generation": 1,
        "step": step,
        "samples": step,
        "local_batch_size": 1,
        "values": logged,
    }
    return {"type": "progress", "metric": metric, "measurement": None, "noise_scale": None}


@pytest.mark.parametrize("told", [10**15, 32_503_680_001, -1, 1e308])
def test_a_point_of_a_moment_that_cannot_be_is_passed_on_with_one_that_the_service_takes(
    told: float,
) -> None:
    story, message = Story().train("w1"), _progress(1)
    message["metric"]["at"] = told
    story.tell(to_event("w1", message))
    report = story.coordination.sync_report()
    assert [point["at"] for point in report["metrics"]] == [0.0]
    assert len(ServiceReport.model_validate(report).metrics) == 1


def test_what_does_not_fit_into_a_report_waits_for_the_next() -> None:
    story = Story().train("w1")
    names = [f"{number:03}" + "\u00e9" * 77 for number in range(64)]
    for step in range(MOST_METRICS):
        story.tell(to_event("w1", _progress(step, **dict.fromkeys(names, 0.123456789))))
    told: list[int] = []
    while len(told) < MOST_METRICS:
        report = story.coordination.sync_report()
        assert len(json.dumps(report)) <= LARGEST_REPORT_BYTES
        assert report["metrics"]
        told += [metric["step"] for metric in report["metrics"]]
        story.coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
    assert told == list(range(MOST_METRICS))


def test_a_report_of_very_many_workers_tells_their_phases_at_least() -> None:
    report = cast(
        "SyncReport",
        {
            "generations": [],
            "metrics": [],
            "measurements": [],
            "workers": [
                {"worker_id": f"w{n}", "phase": "training", "error": "x" * 2000}
                for n in range(5000)
            ],
        },
    )
    cut = within_bounds(report)
    assert len(json.dumps(cut)) <= LARGEST_REPORT_BYTES
    assert cut["workers"][-1] == {"worker_id": "w4999", "phase": "training"}
    assert "error" in report["workers"][0]


def test_generations_and_measurements_are_kept_in_bounds() -> None:
    story = Story().train("w1")
    reports = story.coordination.memory.reports
    for number in range(2 * MOST_MEASUREMENTS):
        reports.add_measurement(
            MeasurementReport(workers=1, global_batch_size=number, steps=1, step_seconds=1.0)
        )
    reports.finish_draft()
    reports.generations *= 2 * MOST_GENERATIONS
    report = story.coordination.sync_report()
    assert [one["global_batch_size"] for one in report["measurements"]] == list(
        range(MOST_MEASUREMENTS, 2 * MOST_MEASUREMENTS)
    )
    assert len(report["generations"]) == MOST_GENERATIONS


def test_of_strangers_that_came_and_went_only_the_newest_are_remembered() -> None:
    story = Story().train("w1")
    names = [f"s{number}" for number in range(MOST_GONE + 50)]
    for name in names:
        story.connect(name).disconnect(name)
    reported = [worker["worker_id"] for worker in story.coordination.sync_report()["workers"]]
    assert reported[0] == "w1"
    assert len(reported) <= MOST_GONE + 2
    assert reported[-1] == names[-1]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "length", "total_samples": 10**400},
        {"type": "length", "total_samples": float("inf")},
        {"type": "ready", "model_bytes": -1},
        {"type": "progress", "metric": [], "measurement": None, "noise_scale": None},
        {"type": "switched", "generation": 10**12, "step": 0},
        {"type": "pace", "generation": 1, "steps": 1, "samples": 1, "compute_seconds": 1e-320},
        {"type": "gpu", "use": 7},
    ],
    ids=lambda message: str(message["type"]),
)
def test_a_number_beyond_all_bounds_is_no_message(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        to_event("w1", message)


@dataclass
class Choosy:
    """A service that refuses every report with metrics or generations for good."""

    had: list[SyncReport] = field(default_factory=list)

    def sync(self, report: SyncReport) -> Desired:
        self.had.append(report)
        if report["metrics"] or report["generations"]:
            raise ReportRefusedError("HTTP 400")
        return Story().desired


def test_what_the_service_refuses_is_dropped_and_the_next_report_is_heard(tmp_path: Path) -> None:
    story = Story().train("w1").tell(to_event("w1", _progress(1, loss=0.5)))
    story.coordination.memory.reports.finish_draft()
    coordination: Coordination = story.coordination
    server = Server(coordination, StateFile(tmp_path), token="t")
    service = Choosy()
    waker = HttpWaker(url="http://nowhere", job_id="j", token=lambda: "t")  # nobody listens
    syncing = Synchroniser(coordination, server, service, waker)
    for _ in range(3):
        asyncio.run(syncing.run_once())
    first, second, third = service.had
    assert (len(first["metrics"]), len(first["generations"])) == (1, 1)
    assert (len(second["metrics"]), len(second["generations"])) == (0, 1)
    assert (len(third["metrics"]), len(third["generations"])) == (0, 0)
    assert coordination.memory.desired == Story().desired


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, {"code": "invalid_report"}, ReportRefusedError),
        (413, "<html>", ReportRefusedError),
        (400, "<h1>Bad Request (400)</h1>", ServiceUnavailableError),
        (400, ["what"], ServiceUnavailableError),
        (503, {"code": "unavailable"}, ServiceUnavailableError),
    ],
)
def test_only_what_the_service_says_of_the_report_is_a_refusal_of_it(
    status: int, body: object, error: type[Exception]
) -> None:
    with answering(status, body) as url, pytest.raises(ServiceUnavailableError) as raised:
        HttpService(url=url, job_id="j", token="t").sync(
            Coordination(Memory(), now=0.0).sync_report()
        )
    assert type(raised.value) is error


def test_a_renewed_token_is_used_from_then_on() -> None:
    said = {**Story().desired, "token": "renewed"}
    report = Coordination(Memory(), now=0.0).sync_report()
    tokens: list[str] = []
    with answering(200, said, tokens) as url:
        service = HttpService(url=url, job_id="j", token="t")
        assert "token" not in service.sync(report)
        service.sync(report)
    assert tokens == ["t", "renewed"]
