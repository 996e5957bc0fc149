"""The command line `concertina-simulate`: one workload, several policies, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.cluster_state import AdmissionVariant
from autoscaler.simulate import request
from autoscaler.simulate.parallel import run_all
from autoscaler.simulate.request import ClusterRequest, RequestRefused
from autoscaler.simulate.table import side_by_side
from autoscaler.simulation.candidates import Candidate
from autoscaler.simulation.comparison import Comparison
from autoscaler.simulation.recipes import MixName, Pattern, Recipe
from autoscaler.simulation.recordings import RecordingFormat
from autoscaler.simulation.report.document import document
from autoscaler.simulation.report.page import Conditions, page
from autoscaler.simulation.trace import Trace

DAY: Final = 86_400.0
DEFAULT_POLICIES: Final = ("completion_time", "throughput")

app = typer.Typer(
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(
    epilog=f"Policies: {', '.join(installed_policies().names)}. Options follow a colon, as in"
    " fixed_batch:batch=min. docs/simulate.md tells more."
)
def simulate(
    *,
    policy: Annotated[
        list[str] | None, typer.Option(help="A policy to compare; repeat it.", show_default=False)
    ] = None,
    trace: Annotated[Path | None, typer.Option(help="A recorded workload.", metavar="FILE")] = None,
    trace_format: Annotated[
        RecordingFormat, typer.Option("--format", help="Of the recording.")
    ] = RecordingFormat.AUTO,
    generate: Annotated[Pattern, typer.Option(help="Without a trace: how jobs come.")] = (
        Pattern.POISSON
    ),
    jobs: Annotated[int, typer.Option(min=1, max=1_000_000, help="Generated: how many.")] = 160,
    load: Annotated[
        float,
        typer.Option(min=0.01, max=100, help="Generated: work that comes, 1.0 fills every GPU."),
    ] = 0.8,
    mix: Annotated[MixName, typer.Option(help="Generated: which jobs.")] = MixName.PRODUCTION,
    gpus: Annotated[int, typer.Option(min=1, max=1_000_000, help="In the cluster.")] = 64,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="Instead of --gpus: nodes.", show_default=False),
    ] = None,
    gpus_per_node: Annotated[int, typer.Option(min=1, max=1024)] = 4,
    tick: Annotated[
        float, typer.Option(min=0.1, max=DAY, help="Seconds between decisions.")
    ] = 10.0,
    stall: Annotated[
        float, typer.Option(min=0.0, max=DAY, help="Seconds that a rescale stalls.")
    ] = 1.0,
    restart: Annotated[
        bool, typer.Option("--restart", help="Jobs restart from checkpoints to change.")
    ] = False,
    admission: Annotated[
        AdmissionVariant, typer.Option(help="Of jobs that do not fit.")
    ] = AdmissionVariant.QUEUEING,
    horizon: Annotated[
        float | None,
        typer.Option(min=0.01, max=1e6, help="Hours after which to stop.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report with plots.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="Simulations at once.")] = (
        os.cpu_count() or 1
    ),
) -> None:
    """Replay one workload through the planner under several policies and compare them."""
    cluster = ClusterRequest(
        gpus=gpus if nodes is None else nodes * gpus_per_node,
        gpus_per_node=gpus_per_node,
        tick_seconds=tick,
        stall_seconds=None if restart else stall,
        admission=admission,
        horizon_hours=horizon,
        seed=seed,
        keeps_history=report is not None,
    )
    recipe = Recipe(pattern=generate, mix=mix, jobs=jobs, load=load)
    try:
        request.check_report(report)
        candidates = request.candidates_of(cluster, policy or DEFAULT_POLICIES)
        workload = (
            request.generated(recipe, cluster)
            if trace is None
            else request.recorded(trace, trace_format, gpus_per_node=gpus_per_node)
        )
    except RequestRefused as refusal:
        typer.echo(f"Error: {refusal}", err=True)
        raise typer.Exit(2) from refusal
    comparison = _compare(workload, candidates, processes=processes)
    if report is not None:
        report.write_text(page(comparison, conditions=_conditions(cluster)), encoding="utf-8")
    _show(comparison, report, as_json=as_json)


def _compare(trace: Trace, candidates: Sequence[Candidate], *, processes: int) -> Comparison:
    """Run all candidates, with a bar for each on a terminal's error output."""
    console = Console(stderr=True)
    with _bars(console) as progress:
        bars = {c.label: progress.add_task(c.label, total=len(trace.jobs)) for c in candidates}

        def tell(label: str, ended: int) -> None:
            progress.update(bars[label], completed=ended)

        runs = run_all(trace, candidates, processes=processes, tell=tell)
    return Comparison(trace=trace.name, gpus=candidates[0].gpus, runs=tuple(runs))


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _show(comparison: Comparison, report: Path | None, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(document(comparison), indent=2))
        return
    console = Console()
    console.print(side_by_side(comparison))
    if report is not None:
        console.print(f"The report is in {report}.")


def _conditions(cluster: ClusterRequest) -> Conditions:
    stall = cluster.stall_seconds
    return (
        ("nodes", f"{cluster.gpus_per_node} GPUs each"),
        ("a decision every", f"{cluster.tick_seconds:g} s"),
        ("a rescale", "restarts the job" if stall is None else f"stalls {stall:g} s"),
        ("jobs that do not fit", "wait" if cluster.admission == "queueing" else "are dropped"),
        ("horizon", f"{cluster.horizon_hours:g} h" if cluster.horizon_hours else "none"),
        ("seed", str(cluster.seed)),
    )
