"""The elastic training runtime: four changed lines make a training script elastic.

    import concertina_worker as elastic

    job = elastic.init()
    job.register(model, optimizer, scheduler)
    for epoch in job.epochs(10):
        for x, y in job.batches(train_set):
            ...

A script that keeps its own loop tells how far it is by one line, without torch:

    concertina_worker.report(step=step, loss=loss)

Names are loaded on first use, so that importing `concertina_worker.protocol`, as the service and
the coordinator do, never loads torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina_worker.plain.data import data
from concertina_worker.plain.results import outputs
from concertina_worker.plain.telling import report

if TYPE_CHECKING:
    from concertina_worker.wiring import ElasticityWarning, Job, Rescale, ScriptError, init

__all__ = [
    "ElasticityWarning",
    "Job",
    "Rescale",
    "ScriptError",
    "data",
    "init",
    "outputs",
    "report",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from concertina_worker import wiring  # noqa: PLC0415 - loads torch: see above

    return getattr(wiring, name)
