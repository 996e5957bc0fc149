"""What does a worker's message mean? It becomes an event; anything malformed is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.stragglers import Pace
from concertina_worker.plan import Plan
from concertina_worker.protocol import GpuUse, MetricReport, WorkerPhase
from concertina_worker.wire import FromWorker, Message, Place, ProtocolError

METRIC_FIELDS: Final = frozenset(MetricReport.__annotations__)
GPU_FIELDS: Final = frozenset(GpuUse.__annotations__)


def to_event(worker: str, message: Message) -> on.Event:
    """Translate.

    Raises:
        ProtocolError: unknown kind, or a field is missing or of the wrong type.
    """
    try:
        return _READERS[message["type"]](worker, message)
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolError(f"malformed {message['type']}: {error!r}") from error


def _hello(worker: str, message: Message) -> on.Event:
    plan = message["plan"]
    return on.WorkerConnected(
        worker=worker,
        attempt=int(message["attempt"]),
        phase=WorkerPhase(message["phase"]),
        plan=Plan.from_json(plan) if plan else None,
        failed_in=int(message["failed_in"]),
        model_bytes=int(message["model_bytes"]),
    )


def _progress(worker: str, message: Message) -> on.Event:
    metric = MetricReport(**{name: message["metric"][name] for name in METRIC_FIELDS})  # type: ignore[typeddict-item] # checked by name
    noise = message["noise_scale"]
    return on.ProgressMade(
        worker=worker,
        metric=metric,
        measurement=message["measurement"],
        noise_scale=None if noise is None else float(noise),
    )


def _gpu(worker: str, message: Message) -> on.Event:
    measured = {name: message["use"][name] for name in GPU_FIELDS & message["use"].keys()}
    return on.GpuMeasured(worker=worker, use=GpuUse(**measured))  # type: ignore[typeddict-item] # checked by name


def _pace(worker: str, message: Message) -> on.Event:
    pace = Pace(
        steps=int(message["steps"]),
        samples=int(message["samples"]),
        compute_seconds=float(message["compute_seconds"]),
    )
    if pace.steps < 1 or pace.samples < 1 or not pace.compute_seconds > 0:
        raise ValueError(f"{pace} is no pace")
    return on.PaceTold(worker=worker, generation=int(message["generation"]), pace=pace)


def _heartbeat(worker: str, message: Message) -> on.Event:
    return on.HeartBeat(
        worker=worker,
        place=Place(message["place"]),
        seconds=float(message["seconds"]),
        steps=int(message["steps"]),
    )


def _settled(worker: str, message: Message) -> on.Event:
    return on.WorkerSettled(
        worker=worker,
        generation=int(message["generation"]),
        stall_seconds=float(message["stall_seconds"]),
        transfer_seconds=float(message["transfer_seconds"]),
    )


_READERS: Final[dict[str, Callable[[str, Message], on.Event]]] = {
    FromWorker.HELLO: _hello,
    FromWorker.HEARTBEAT: _heartbeat,
    FromWorker.READY: lambda w, m: on.WorkerReady(worker=w, model_bytes=int(m["model_bytes"])),
    FromWorker.STORE: lambda w, m: on.StoreOpened(
        worker=w, generation=int(m["generation"]), address=str(m["address"])
    ),
    FromWorker.BUILD_FAILED: lambda w, m: on.BuildFailed(worker=w, generation=int(m["generation"])),
    FromWorker.SWITCHED: lambda w, m: on.WorkerSwitched(
        worker=w,
        generation=int(m["generation"]),
        step=int(m["step"]),
        lost_steps=int(m.get("lost_steps", 0)),
    ),
    FromWorker.SETTLED: _settled,
    FromWorker.FAILED: lambda w, m: on.CollectiveFailed(worker=w, generation=int(m["generation"])),
    FromWorker.PROGRESS: _progress,
    FromWorker.PACE: _pace,
    FromWorker.OUT_OF_MEMORY: lambda w, m: on.RanOutOfMemory(worker=w, samples=int(m["samples"])),
    FromWorker.LENGTH: lambda w, m: on.LengthTold(worker=w, total_samples=int(m["total_samples"])),
    FromWorker.CHECKPOINTED: lambda w, m: on.CheckpointWritten(worker=w, step=int(m["step"])),
    FromWorker.LEAVING: lambda w, _: on.WorkerLeaving(worker=w),
    FromWorker.FINISHED: lambda w, _: on.WorkerFinished(worker=w),
    FromWorker.GOODBYE: lambda w, _: on.GoodbyeSaid(worker=w),
    FromWorker.ERROR: lambda w, m: on.ErrorRaised(worker=w, text=str(m["text"])),
    FromWorker.GPU: _gpu,
}
