"""What does a worker's message mean? It becomes an event; anything malformed is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections import bounds
from concertina_worker.coordinator.stragglers import WorkerThroughput
from concertina_worker.protocol import GpuUse, MeasurementReport, MemberPhase, MetricReport
from concertina_worker.wire import FromWorker, Message, ProtocolError, ScriptPlace

_SHORTEST_SECONDS: Final = 1e-9  # quotients stay finite


def to_event(worker: str, message: Message) -> on.Event:
    """Translate.

    Raises:
        ProtocolError: unknown kind, or a field is missing or of the wrong type.
    """
    try:
        return _READERS[message["type"]](worker, message)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ProtocolError(f"malformed {message['type']}: {error!r}") from error


def _hello(worker: str, message: Message) -> on.Event:
    plan = message["plan"]
    return on.WorkerConnected(
        worker=worker,
        attempt=bounds.whole(message["attempt"]),
        phase=MemberPhase(message["phase"]),
        plan=bounds.plan(plan) if plan else None,
        failed_in=bounds.whole(message["failed_in"]),
        model_bytes=bounds.whole(message["model_bytes"], bounds.LARGEST_COUNT),
        is_sharded=bool(message.get("is_sharded", False)),
    )


def _progress(worker: str, message: Message) -> on.Event:
    measured, noise = message["measurement"], message["noise_scale"]
    return on.ProgressMade(
        worker=worker,
        metric=cast("MetricReport", bounds.checked(message["metric"], bounds.OF_METRIC)),
        measurement=None if measured is None else _measurement(measured),
        noise_scale=None if noise is None else bounds.amount(noise),
    )


def _measurement(document: Message) -> MeasurementReport | None:
    """One without steps or time says nothing."""
    measured = bounds.checked(document, bounds.OF_MEASUREMENT)
    return cast("MeasurementReport", measured) if all(measured.values()) else None


def _gpu(worker: str, message: Message) -> on.Event:
    checks = {n: check for n, check in bounds.OF_GPU_USE.items() if n in message["use"]}
    return on.GpuMeasured(worker=worker, use=cast("GpuUse", bounds.checked(message["use"], checks)))


def _pace(worker: str, message: Message) -> on.Event:
    pace = WorkerThroughput(
        steps=bounds.whole(message["steps"]),
        samples=bounds.whole(message["samples"], bounds.LARGEST_COUNT),
        compute_seconds=bounds.amount(message["compute_seconds"]),
    )
    if pace.steps < 1 or pace.samples < 1 or pace.compute_seconds < _SHORTEST_SECONDS:
        raise ValueError(f"{pace} is no pace")
    return on.PaceTold(worker=worker, generation=bounds.whole(message["generation"]), pace=pace)


def _heartbeat(worker: str, message: Message) -> on.Event:
    return on.HeartBeat(
        worker=worker,
        place=ScriptPlace(message["place"]),
        seconds=bounds.amount(message["seconds"]),
        steps=bounds.whole(message["steps"], bounds.LARGEST_COUNT),
    )


def _settled(worker: str, message: Message) -> on.Event:
    return on.WorkerSettled(
        worker=worker,
        generation=bounds.whole(message["generation"]),
        stall_seconds=bounds.amount(message["stall_seconds"]),
        transfer_seconds=bounds.amount(message["transfer_seconds"]),
    )


def _count(value: object) -> int:
    return bounds.whole(value, bounds.LARGEST_COUNT)


_READERS: Final[dict[str, Callable[[str, Message], on.Event]]] = {
    FromWorker.HELLO: _hello,
    FromWorker.HEARTBEAT: _heartbeat,
    FromWorker.READY: lambda w, m: on.WorkerReady(
        worker=w,
        model_bytes=_count(m["model_bytes"]),
        is_sharded=bool(m.get("is_sharded", False)),
    ),
    FromWorker.STORE: lambda w, m: on.StoreOpened(
        worker=w, generation=bounds.whole(m["generation"]), address=bounds.text(m["address"])
    ),
    FromWorker.BUILD_FAILED: lambda w, m: on.BuildFailed(
        worker=w, generation=bounds.whole(m["generation"])
    ),
    FromWorker.SWITCHED: lambda w, m: on.WorkerSwitched(
        worker=w,
        generation=bounds.whole(m["generation"]),
        step=_count(m["step"]),
        lost_steps=_count(m.get("lost_steps", 0)),
    ),
    FromWorker.SETTLED: _settled,
    FromWorker.FAILED: lambda w, m: on.CollectiveFailed(
        worker=w, generation=bounds.whole(m["generation"])
    ),
    FromWorker.PROGRESS: _progress,
    FromWorker.PACE: _pace,
    FromWorker.OUT_OF_MEMORY: lambda w, m: on.RanOutOfMemory(
        worker=w, samples=bounds.whole(m["samples"])
    ),
    FromWorker.LENGTH: lambda w, m: on.LengthTold(
        worker=w, total_samples=_count(m["total_samples"])
    ),
    FromWorker.CHECKPOINTED: lambda w, m: on.CheckpointWritten(worker=w, step=_count(m["step"])),
    FromWorker.LEAVING: lambda w, _: on.WorkerLeaving(worker=w),
    FromWorker.FINISHED: lambda w, _: on.WorkerFinished(worker=w),
    FromWorker.GOODBYE: lambda w, _: on.GoodbyeSaid(worker=w),
    FromWorker.ERROR: lambda w, m: on.ErrorRaised(worker=w, text=bounds.text(m["text"])),
    FromWorker.WARNING: lambda w, m: on.WarningGiven(worker=w, text=bounds.text(m["text"])),
    FromWorker.GPU: _gpu,
}
