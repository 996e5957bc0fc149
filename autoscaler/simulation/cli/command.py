"""The command line `concertina-simulate`: one workload, several policies, side by side."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final

import typer
from rich.console import Console

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.cli import options, request
from autoscaler.simulation.cli.parallel import SimulationsInterrupted, run_all
from autoscaler.simulation.cli.progress.line import ProgressLine
from autoscaler.simulation.cli.progress.pace import SimulationRate
from autoscaler.simulation.cli.refusal import RequestRefused
from autoscaler.simulation.cli.request import ClusterRequest
from autoscaler.simulation.cli.table import side_by_side
from autoscaler.simulation.cli.tick import USUAL_SECONDS, reason_for, tick_for
from autoscaler.simulation.cli.workload import WorkloadRequest
from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import Comparison
from autoscaler.simulation.engine.replay.settings import Knowledge
from autoscaler.simulation.engine.report.document import document
from autoscaler.simulation.engine.report.page import Conditions, page
from autoscaler.simulation.engine.workload.recipes import MixName, Pattern, Recipe
from autoscaler.simulation.engine.workload.recordings import RecordingFormat
from autoscaler.simulation.engine.workload.selection import Selection
from autoscaler.simulation.engine.workload.trace import Trace

INTERRUPTED: Final = 130  # what shells say of a command that Ctrl-C ended
CORES: Final = os.cpu_count() or 1
GENERATED_JOBS: Final = 160
HOUR: Final = 3600.0
DEFAULT_POLICIES: Final = ("completion_time", "throughput")

_KNOWN: Final = {
    Knowledge.MEASURED: "what a job has measured",
    Knowledge.EARLIER_RUNS: "what a job, or the team's last run of its kind, has measured",
    Knowledge.ORACLE: "everything",
    Knowledge.NOTHING: "nothing",
}

app = typer.Typer(
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(
    epilog=f"Policies: {', '.join(installed_policies().names)}. Options follow a colon, as in"
    " fixed_batch:batch=min. docs/planning/simulate.md tells more."
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
    knowledge: options.Known = Knowledge.MEASURED,
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
        knowledge=knowledge,
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
    policies = policy or DEFAULT_POLICIES
    try:
        request.check_report(report)
        request.check_policies(policies)
        jobs_to_replay = workload.trace(gpus=cluster.gpus, gpus_per_node=gpus_per_node, tell=_tell)
        if tick is None:
            cluster = _with_chosen_tick(cluster, jobs_to_replay)
        candidates = request.candidates_of(cluster, policies)
        request.check_all_can_end(jobs_to_replay, candidates)
        comparison = _compare(jobs_to_replay, candidates, processes=processes)
    except RequestRefused as refusal:
        _tell(f"Error: {refusal}")
        raise typer.Exit(2) from refusal
    except SimulationUnfinished as unfinished:
        _show_what_is_done(unfinished, as_json=as_json)
        raise typer.Exit(INTERRUPTED) from unfinished
    except KeyboardInterrupt:
        _tell("Stopped before the first simulation began.")
        raise typer.Exit(INTERRUPTED) from None
    if report is not None:
        report.write_text(page(comparison, conditions=_conditions(cluster)), encoding="utf-8")
    _show(comparison, report, as_json=as_json)


def _tell(sentence: str) -> None:
    """Write to the error output: programs read the other."""
    typer.echo(sentence, err=True)


def _with_chosen_tick(cluster: ClusterRequest, trace: Trace) -> ClusterRequest:
    tick = tick_for(trace)
    if reason := reason_for(tick, trace):
        _tell(reason)
    return replace(cluster, tick_seconds=tick)


class SimulationUnfinished(Exception):
    """Somebody pressed Ctrl-C; says how far it was, and compares what was done by then."""

    def __init__(self, sentence: str, comparison: Comparison) -> None:
        super().__init__(sentence)
        self.comparison = comparison


def _compare(trace: Trace, candidates: Sequence[Candidate], *, processes: int) -> Comparison:
    """Run all candidates, and show on the error output how far they are.

    Raises:
        Unfinished: Ctrl-C.
    """
    pace = SimulationRate(
        labels=[one.label for one in candidates], jobs=len(trace.jobs), processes=processes
    )
    line = ProgressLine(
        pace=pace, write=_write, clock=perf_counter, is_terminal=sys.stderr.isatty()
    )
    compared = partial(Comparison, trace=trace.name, gpus=candidates[0].gpus)
    try:
        runs = run_all(trace, candidates, processes=processes, tell=line)
    except SimulationsInterrupted as interrupted:
        reached = pace.sentence(perf_counter())
        raise SimulationUnfinished(reached, compared(runs=interrupted.runs)) from None
    finally:
        line.close()
    return compared(runs=tuple(runs))


def _write(text: str) -> None:
    typer.echo(text, err=True, nl=False)


def _show_what_is_done(unfinished: SimulationUnfinished, *, as_json: bool) -> None:
    """Programs get nothing: they would take it for the whole."""
    _tell(f"Stopped at {unfinished}.")
    if unfinished.comparison.runs and not as_json:
        Console().print(side_by_side(unfinished.comparison))


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
        ("known of speeds", _KNOWN[cluster.knowledge]),
        ("jobs that do not fit", "wait" if cluster.admission == "queueing" else "are dropped"),
        ("horizon", f"{cluster.horizon_hours:g} h" if cluster.horizon_hours else "none"),
        ("seed", str(cluster.seed)),
    )
