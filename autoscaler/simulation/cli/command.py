"""The command line `concertina-simulate`: one workload, several policies, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.cli import options, request
from autoscaler.simulation.cli.parallel import run_all
from autoscaler.simulation.cli.refusal import RequestRefused
from autoscaler.simulation.cli.request import ClusterRequest
from autoscaler.simulation.cli.table import side_by_side
from autoscaler.simulation.cli.tick import USUAL_SECONDS, reason_for, tick_for
from autoscaler.simulation.cli.workload import WorkloadRequest
from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import Comparison
from autoscaler.simulation.engine.report.document import document
from autoscaler.simulation.engine.report.page import Conditions, page
from autoscaler.simulation.engine.workload.recipes import MixName, Pattern, Recipe
from autoscaler.simulation.engine.workload.recordings import RecordingFormat
from autoscaler.simulation.engine.workload.selection import Selection
from autoscaler.simulation.engine.workload.trace import Trace

CORES: Final = os.cpu_count() or 1
GENERATED_JOBS: Final = 160
HOUR: Final = 3600.0
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
    policy: options.Policies = None,
    trace: options.TraceFile = None,
    trace_format: options.TraceFormat = RecordingFormat.AUTO,
    generate: options.Arrivals = Pattern.POISSON,
    jobs: options.Jobs = None,
    since: options.From = 0.0,
    until: options.Until = None,
    sample: options.Sample = 1.0,
    load: options.Load = 0.8,
    mix: options.JobMix = MixName.PRODUCTION,
    gpus: options.Gpus = 64,
    nodes: options.Nodes = None,
    gpus_per_node: options.GpusPerNode = 4,
    tick: options.Tick = None,
    stall: options.Stall = 1.0,
    restart: options.Restart = False,
    failures: options.NodeFailures = None,
    admission: options.Admission = AdmissionVariant.QUEUEING,
    horizon: options.Horizon = None,
    seed: options.Seed = 0,
    report: options.ReportFile = None,
    as_json: options.AsJson = False,
    processes: options.Processes = CORES,
) -> None:
    """Replay one workload through the planner under several policies and compare them."""
    cluster = ClusterRequest(
        gpus=gpus if nodes is None else nodes * gpus_per_node,
        gpus_per_node=gpus_per_node,
        tick_seconds=tick or USUAL_SECONDS,
        stall_seconds=None if restart else stall,
        node_failure_hours=failures,
        admission=admission,
        horizon_hours=horizon,
        seed=seed,
        keeps_history=report is not None,
    )
    workload = WorkloadRequest(
        file=trace,
        file_format=trace_format,
        recipe=Recipe(pattern=generate, mix=mix, jobs=jobs or GENERATED_JOBS, load=load),
        selection=Selection(
            since=since * HOUR,
            until=None if until is None else until * HOUR,
            share=sample,
            most_jobs=jobs,
            seed=seed,
        ),
    )
    try:
        request.check_report(report)
        request.check_policies(policy or DEFAULT_POLICIES)
        jobs_to_replay = workload.trace(gpus=cluster.gpus, gpus_per_node=gpus_per_node, tell=_tell)
    except RequestRefused as refusal:
        typer.echo(f"Error: {refusal}", err=True)
        raise typer.Exit(2) from refusal
    if tick is None:
        cluster = _with_chosen_tick(cluster, jobs_to_replay)
    candidates = request.candidates_of(cluster, policy or DEFAULT_POLICIES)
    comparison = _compare(jobs_to_replay, candidates, processes=processes)
    if report is not None:
        report.write_text(page(comparison, conditions=_conditions(cluster)), encoding="utf-8")
    _show(comparison, report, as_json=as_json)


def _tell(sentence: str) -> None:
    """On the error output: programs read the other."""
    typer.echo(sentence, err=True)


def _with_chosen_tick(cluster: ClusterRequest, trace: Trace) -> ClusterRequest:
    tick = tick_for(trace)
    if reason := reason_for(tick, trace):
        _tell(reason)
    return replace(cluster, tick_seconds=tick)


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
    stall, failing = cluster.stall_seconds, cluster.node_failure_hours
    return (
        ("nodes", f"{cluster.gpus_per_node} GPUs each"),
        ("a decision every", f"{cluster.tick_seconds:g} s"),
        ("a rescale", "restarts the job" if stall is None else f"stalls {stall:g} s"),
        ("a node fails", f"every {failing:g} h on average" if failing else "never"),
        ("jobs that do not fit", "wait" if cluster.admission == "queueing" else "are dropped"),
        ("horizon", f"{cluster.horizon_hours:g} h" if cluster.horizon_hours else "none"),
        ("seed", str(cluster.seed)),
    )
