"""What does one job look like, whole?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.views.dependencies import dependency_rows
from concertina.views.fitting import FittingTable
from concertina.views.job.arrays import trial_rows
from concertina.views.jobs import progress_bar, state
from concertina.views.keeping import removals_text
from concertina.views.specs.templates import template_rows
from concertina.views.team.schedules import schedule_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from concertina.documents import (
        Event,
        Generation,
        Job,
        JobDependencies,
        JobDetail,
        JobRemovals,
        Worker,
    )

NEWEST: Final = 10
_COSTS: Final = ("STALL", "TRANSFER", "LOST WORK")
_NOT_KNOWN: Final = "not known"
_GAINS: Final = ("PREDICTED", "MEASURED")  # how much faster than the generation before


def description(
    job: JobDetail,
    generations: Sequence[Generation],
    workers: Sequence[Worker],
    events: Sequence[Event],
    removals: JobRemovals | None = None,
    *,
    dependencies: JobDependencies | None = None,
) -> RenderableType:
    """A job's facts, its generations, its workers and its newest events."""
    present = [worker for worker in workers if worker["phase"] != "gone"]
    return Group(
        _facts(job, removals, dependencies),
        *_section("Generations", generations, _generations_table(generations)),
        *_section("Workers", present, _workers_table(present)),
        *_section("Events", events, _events_table(events)),
    )


def _facts(
    job: JobDetail, removals: JobRemovals | None, dependencies: JobDependencies | None
) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bright_black", no_wrap=True)
    grid.add_column()
    for name, value in _fact_rows(job):
        grid.add_row(name, value)
    for name, value in dependency_rows(dependencies):
        grid.add_row(name, value)
    if removals and (kept := removals_text(removals)):
        grid.add_row("Kept", kept)
    return grid


def _fact_rows(job: JobDetail) -> Iterator[tuple[str, RenderableType]]:
    yield "Job", f"{job['team']}/{job['name']} ({job['id']})"
    yield "State", state(job["state"])
    if job["message"]:
        yield "Why", job["message"]
    for warning in job.get("warnings", ()):
        yield "Warning", Text(warning, style="yellow")
    yield from trial_rows(job)
    yield from schedule_rows(job)
    yield from template_rows(job)
    yield "Progress", progress_bar(job, width=30)
    of_total = f" of {words.number(job['total_samples'])}" if job["total_samples"] else ""
    yield "Step", f"{job['step']} ({words.number(job['samples'])}{of_total} samples)"
    yield "Left", words.left(job["eta_seconds"])
    yield from _predicted(job)
    span = f"{job['min_workers']} to {job['max_workers']}"
    yield "Workers", f"{words.workers(job)} (may have {span}, mode {job['mode']})"
    yield "Batch", words.number(job["global_batch_size"] or None)
    yield from _batch_worth(job)
    yield "Speed", words.speed(job["samples_per_second"])
    for name, value in sorted(job["values"].items()):
        yield name.capitalize(), words.number(value)
    yield "Pool", f"{job['pool']}, priority {job['priority']}"
    yield "Attempt", f"{job['attempt']} ({job['failures']} failures, {job['losses']} losses)"
    yield "Rescales", f"{job['rescales']} ({_cost(job)})"
    if (written := job.get("disk_bytes")) is not None:
        yield "Disk", f"{words.size(written)} in {words.number(job.get('disk_files'))} files"
    yield from _used_up(job)
    yield "Submitted", f"{words.date_time(job['submitted_at'])} by {job['submitted_by']}"
    yield from _code(job)
    yield from _data(job)
    yield "Started", words.date_time(job["started_at"])
    if job["finished_at"]:
        took = words.duration(job["completion_seconds"])
        yield "Finished", f"{words.date_time(job['finished_at'])} (after {took})"


def _used_up(job: JobDetail) -> Iterator[tuple[str, str]]:
    """Yield what it has used up, and of how much if its spec limits that."""
    limits = job.get("resolved_spec", {})
    budget, most = limits.get("budget_gpu_hours"), limits.get("max_duration")
    of_budget = "" if budget is None else f" of at most {budget:g} GPU-hours"
    yield "GPU time", f"{words.duration(job['gpu_seconds'])}{of_budget}"
    if most is not None:
        yield (
            "Held GPUs",
            f"{words.duration(job['held_seconds'])} of at most {most}",
        )


def _data(job: JobDetail) -> Iterator[tuple[str, str]]:
    """Yield what data it uses."""
    if uses := job.get("resolved_spec", {}).get("data"):
        named = (
            f"{use['source']}{'/' if use['path'] else ''}{use['path']}"
            f"{' (writable)' if use['writable'] else ''}"
            for use in uses
        )
        yield "Data", ", ".join(named)


def _code(job: JobDetail) -> Iterator[tuple[str, str]]:
    """Yield the snapshot that it runs, and where that came from."""
    if code := job.get("resolved_spec", {}).get("code"):
        digest = code["digest"][:12] if code["digest"] else "not fetched yet"
        yield "Code", f"{digest}{_origin(code['git']) if code.get('git') else ''}"


def _origin(git: dict[str, Any]) -> str:
    commit = f", commit {git['commit'][:10]}" if git["commit"] else ""
    branch = f" of {git['branch']}" if git["branch"] else ""
    changed = " and changes beside it" if git["is_changed"] else ""
    folder = f"/{git['path']}" if git.get("path") else ""
    url = f", from {git['url']}{folder}" if git.get("url") else ""  # of an earlier release: none
    return f"{commit}{branch}{changed}{url}"


def _batch_worth(job: JobDetail) -> Iterator[tuple[str, Text]]:
    """Yield what the measured gradient noise makes of the range; a warning if it is too wide."""
    if worth := job.get("batch_worth"):
        is_warning = worth["reaches_too_far"]
        name, style = ("Warning", "yellow") if is_warning else ("Worth", "")
        yield name, Text(worth["message"], style=style)


def _cost(job: Job) -> str:
    """Return what all changes together cost, and which part of the run that was."""
    share = job["stall_seconds"] / job["trained_seconds"] if job["trained_seconds"] else 0.0
    longest = words.duration(job["longest_stall_seconds"])
    part = words.percent(share, places=1)
    stood = f"stood still for {words.duration(job['stall_seconds'])}, {part} of its run"
    lost = job["lost_work_seconds"]
    again = f"; {words.duration(lost)} of work made again" if lost else ""
    return f"{stood}; longest {longest}{again}"


def _predicted(job: Job) -> Iterator[tuple[str, str]]:
    """Yield what a replay of the plan predicts; what has happened is left out."""
    prediction = job.get("prediction")
    if prediction is None:
        return
    if prediction["start"] is not None:
        yield "Starts", words.predicted(prediction["start"])
    if prediction["finish"] is not None:
        yield "Finishes", words.predicted(prediction["finish"])
        if (lately := prediction.get("lately")) is not None:
            yield "So far", words.track_record(lately)
    if words.is_past(prediction.get("old_at")):
        yield "Predicted", f"{words.age(prediction['made_at'])} ago"


def _section(title: str, rows: Sequence[object], table: FittingTable) -> Iterator[RenderableType]:
    if rows:
        shown = f" (newest {NEWEST} of {len(rows)})" if len(rows) > NEWEST else ""
        yield Padding(Text(title + shown, style="bold underline"), (1, 0, 0, 0))
        yield table


def _generations_table(generations: Sequence[Generation]) -> FittingTable:
    table = FittingTable(
        *("", "SINCE", "WORKERS", "BATCH", "FROM STEP", *_COSTS, *_GAINS, "REASON", "WHY"),
        first_to_go=("TRANSFER", "FROM STEP", *_GAINS, "LOST WORK", "SINCE", "STALL", "REASON"),
    )
    for generation in generations[-NEWEST:]:
        table.add_row(
            str(generation["number"]),
            words.clock_time(generation["began_at"]),
            str(generation["workers"]),
            words.number(generation["global_batch_size"]),
            str(generation["step"]),
            *_costs(generation),
            words.gain(generation["predicted_gain"]),
            words.gain(generation["measured_gain"]),
            generation["reason"],
            words.first_line(generation["message"]),
        )
    return table


def _costs(generation: Generation) -> tuple[str, str, str]:
    """Return what restarts cost; of a script that reports nothing, only what its log tells."""
    restart = generation.get("restart")
    if restart is None:
        return (
            words.duration(generation["stall_seconds"]),
            words.duration(generation["transfer_seconds"] or None),
            words.duration(generation["lost_work_seconds"] or None),
        )
    until = restart["seconds"]
    return (
        _NOT_KNOWN if until is None else f"about {words.duration(until)}",
        words.duration(None),
        _repeated(restart["repeated_seconds"]),
    )


def _repeated(seconds: float | None) -> str:
    if seconds is None:
        return _NOT_KNOWN
    return f"at least {words.duration(seconds)}" if seconds else "none seen"


def _workers_table(workers: Sequence[Worker]) -> FittingTable:
    has_gpus = any(worker["gpu_utilisation"] is not None for worker in workers)
    of_gpus = ("GPU USE", "GPU MEMORY") if has_gpus else ()
    table = FittingTable(
        *("WORKER", "PHASE", "NODE", "GPUS", "COMPUTES", "SPEED", *of_gpus, "AGE"),
        first_to_go=(*of_gpus, "COMPUTES", "SPEED"),
    )
    for worker in workers[-NEWEST:]:
        table.add_row(
            worker["id"],
            worker["phase"],
            worker["node"],
            ", ".join(map(str, worker["gpu_indices"])),
            words.duration(worker["compute_seconds"]),
            _relative_speed(worker),
            *(_gpu_use(worker) if has_gpus else ()),
            words.age(worker["created_at"]),
        )
    return table


def _relative_speed(worker: Worker) -> str:
    speed = worker["relative_speed"]
    mark = " straggler" if worker["is_straggler"] else ""
    return "-" if speed is None else f"{speed:.2f}{mark}"


def _gpu_use(worker: Worker) -> tuple[str, str]:
    used, memory = worker["gpu_utilisation"], worker["gpu_memory_bytes"]
    return (
        words.percent(used),
        "-" if memory is None else f"{memory / 2**30:.1f} GiB",
    )


def _events_table(events: Sequence[Event]) -> FittingTable:
    table = FittingTable("AT", "WHAT", "COST", "WHY", first_to_go=("COST",))
    for event in events[-NEWEST:]:
        table.add_row(
            words.clock_time(event["at"]),
            what(event),
            cost(event),
            words.first_line(event["message"]),
        )
    return table


def cost(event: Event) -> str:
    """`stall 0.08 s, lost work 30 s`: what a change of the workers cost, where it did."""
    names = {"stall_seconds": "stall", "lost_work_seconds": "lost work"}
    facts = ((name, event["data"].get(field)) for field, name in names.items())
    return ", ".join(f"{name} {words.duration(seconds)}" for name, seconds in facts if seconds)


def what(event: Event) -> str:
    """`queued → starting`, or the kind of an event that moved nothing."""
    if event["old_state"] and event["new_state"] and event["old_state"] != event["new_state"]:
        return f"{event['old_state']} → {event['new_state']}"
    return event["kind"].replace("_", " ")
