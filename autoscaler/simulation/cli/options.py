"""What does each option of `concertina-simulate` mean, and which values may it have?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.engine.replay.settings import Knowledge
from autoscaler.simulation.engine.workload.recipes import MixName, Pattern
from autoscaler.simulation.engine.workload.recordings import RecordingFormat

_DAY: Final = 86_400.0

Policies = Annotated[
    list[str] | None, typer.Option(help="A policy to compare; repeat it.", show_default=False)
]
TraceFile = Annotated[Path | None, typer.Option(help="A recorded workload.", metavar="FILE")]
TraceFormat = Annotated[RecordingFormat, typer.Option("--format", help="Of the recording.")]
Arrivals = Annotated[Pattern, typer.Option(help="Without a trace: how jobs come.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1_000_000,
        help="How many are generated; of a trace, at most so many, the first ones.",
        show_default="160, or all of a trace",
    ),
]
From = Annotated[
    float, typer.Option("--from", min=0.0, max=1e6, help="Hours of the trace to leave out first.")
]
Until = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1e6, help="The hour of the trace at which to stop reading.", show_default=False
    ),
]
Sample = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="The share of jobs to replay, drawn by --seed.")
]
Load = Annotated[
    float,
    typer.Option(min=0.01, max=100, help="Generated: work that comes, 1.0 fills every GPU."),
]
JobMix = Annotated[MixName, typer.Option(help="Generated: which jobs.")]
Gpus = Annotated[int, typer.Option(min=1, max=1_000_000, help="In the cluster.")]
Nodes = Annotated[
    int | None,
    typer.Option(min=1, max=100_000, help="Instead of --gpus: nodes.", show_default=False),
]
GpusPerNode = Annotated[int, typer.Option(min=1, max=1024)]
Tick = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        max=_DAY,
        help="Seconds between decisions.",
        show_default="60, more for a long trace",
    ),
]
Stall = Annotated[float, typer.Option(min=0.0, max=_DAY, help="Seconds that a rescale stalls.")]
Restart = Annotated[
    bool, typer.Option("--restart", help="Jobs restart from checkpoints to change.")
]
NodeFailures = Annotated[
    float | None,
    typer.Option(
        "--node-failures",
        min=0.01,
        max=1e6,
        help="Hours between failures of one node, on average.",
        show_default="never",
    ),
]
Known = Annotated[
    Knowledge,
    typer.Option(
        "--knowledge",
        help="Of jobs' speeds: as they measure it, also by the team's last run of the same kind,"
        " exactly, or as of scripts that report nothing.",
    ),
]
Admission = Annotated[AdmissionVariant, typer.Option(help="Of jobs that do not fit.")]
Horizon = Annotated[
    float | None,
    typer.Option(min=0.01, max=1e6, help="Hours after which to stop.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0)]
ReportFile = Annotated[
    Path | None, typer.Option(help="Write an HTML report with plots.", metavar="FILE")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Processes = Annotated[int, typer.Option(min=1, help="Simulations at once.")]
