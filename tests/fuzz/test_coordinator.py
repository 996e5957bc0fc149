"""Can any message of a worker break its coordinator, or what that reports to the service?"""

from __future__ import annotations

import copy
import json
from typing import Any, Final

from hypothesis import strategies as st

from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.protocol import LARGEST_REPORT_BYTES
from concertina_worker.wire import FromWorker, ProtocolError, ScriptPlace
from jobs.reports.sync_report import CheckedSyncReport
from tests.fuzz.conftest import Fuzz
from tests.fuzz.values import EDGES, changed
from tests.service.syncing import measured, metric
from tests.worker.coordinator_story import Story

PLAN: Final[dict[str, Any]] = {
    "generation": 1,
    "members": ["w1", "w2"],
    "joiners": [],
    "is_recovery": True,
    "global_batch_size": 32,
    "batch_limit": None,
    "revision": 1,
    "timeout_seconds": 9.0,
}
USE: Final = {"gpu_utilisation": 0.5, "gpu_memory_bytes": 1, "gpu_memory_total_bytes": 2}
HELLO: Final[dict[str, Any]] = {"attempt": 1, "phase": "training", "failed_in": 0, "model_bytes": 1}
MESSAGES: Final[dict[str, dict[str, Any]]] = {
    FromWorker.HELLO: {**HELLO, "plan": PLAN},
    FromWorker.HEARTBEAT: {"place": ScriptPlace.WAITING, "seconds": 1.0, "steps": 1},
    FromWorker.READY: {"model_bytes": 1},
    FromWorker.STORE: {"generation": 1, "address": "a:1"},
    FromWorker.BUILD_FAILED: {"generation": 2},
    FromWorker.SWITCHED: {"generation": 1, "step": 1, "lost_steps": 0},
    FromWorker.SETTLED: {"generation": 1, "stall_seconds": 1.0, "transfer_seconds": 1.0},
    FromWorker.FAILED: {"generation": 1},
    FromWorker.PROGRESS: {
        "metric": metric(1),
        "measurement": measured(2, 32),
        "noise_scale": 1.0,
    },
    FromWorker.PACE: {"generation": 1, "steps": 1, "samples": 1, "compute_seconds": 1.0},
    FromWorker.OUT_OF_MEMORY: {"samples": 8},
    FromWorker.LENGTH: {"total_samples": 8},
    FromWorker.CHECKPOINTED: {"step": 1},
    FromWorker.ERROR: {"text": "what"},
    FromWorker.GPU: {"use": USE},
    **{kind: {} for kind in (FromWorker.LEAVING, FromWorker.FINISHED, FromWorker.GOODBYE)},
}
FIELDS: Final = [
    *((kind, name) for kind, message in MESSAGES.items() for name in message),
    *((FromWorker.HELLO, "plan", name) for name in PLAN),
    *((FromWorker.PROGRESS, "metric", name) for name in metric(1)),
    *((FromWorker.PROGRESS, "metric", "values", name) for name in ("loss", "b")),
    *((FromWorker.PROGRESS, "measurement", name) for name in measured(1, 1)),
    *((FromWorker.GPU, "use", name) for name in USE),
]
SAID: Final = st.tuples(
    st.sampled_from(["w1", "w2", "w3"]),
    st.sampled_from(sorted(MESSAGES)),
    st.lists(st.tuples(st.sampled_from(FIELDS), EDGES), max_size=3),
)


def test_whatever_workers_say_the_coordinator_goes_on_and_its_report_can_be_taken(
    fuzz: Fuzz,
) -> None:
    def holds(said: list[tuple[str, str, list[tuple[tuple[str, ...], Any]]]]) -> None:
        story = Story().train("w1", "w2")
        for worker, kind, changes in said:
            documents = changed(copy.deepcopy(MESSAGES), changes)
            try:
                message = {**documents[kind], "type": kind}
                event = to_event(worker, json.loads(json.dumps(message)))
            except ProtocolError:
                continue
            except TypeError:  # the document is no message any more
                assert not isinstance(documents[kind], dict)
                continue
            story.tell(event)
        written = json.dumps(story.coordination.sync_report())
        assert len(written) <= LARGEST_REPORT_BYTES
        taken = CheckedSyncReport.model_validate(json.loads(written))
        assert len(taken.metrics) == len(json.loads(written)["metrics"])
        Memory.from_json(json.loads(json.dumps(story.coordination.memory.to_json())))
        story.want("w1").pass_time(2, "w1", "w2")

    fuzz(st.lists(SAID, min_size=1, max_size=12), holds, in_suite=100)
