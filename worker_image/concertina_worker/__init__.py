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

Each storey imports only from those below it:

    wiring            makes a `Job` of all parts; `imports`: what each script loads sooner or later
    job               what a script calls
    rehearsal         calls once, before there are threads, what these will call
    training          the script's epochs, steps and gradients
    sharding          a model of which each worker holds a part: loaded by scripts that shard only
    membership        which generation this worker is in, and how it gets into the next one
    state             the state of a training: handed to joiners, kept on disk
    collective        how the workers of a generation compute together
    samples           which samples a worker computes; `batch`: what follows from the global batch
    device            what this worker computes on
    coordinator       the process that leads a job's workers
    plain             what a script that keeps its own loop calls, without torch
    zygote            starts a script in an instant
    wire, plan        how coordinator and workers talk, and what they agree on
    environment       what this process was started with
    protocol          all that the service and a job tell each other
    checkpoint_files  how a checkpoint's files are called, which the service reads, too
    process           how an operating-system process becomes another program, and ends
    manual            where it is written what a script may do
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
