"""`metrics`, `tensorboard`: what did a job log, for other programs and in TensorBoard?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from concertina import words
from concertina.commands.options import JobReference, JobReferences, Output, Since, Until
from concertina.errors import Unreachable
from concertina.results.curves.curve_files import CurveFormat
from concertina.states import FINAL_STATES
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from concertina.results.curves.event_files import EventFiles

_LOOK_SECONDS: Final = 10.0  # guessed: TensorBoard itself looks every 30 s


def metrics(
    reference: JobReference,
    *,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            "-d",
            metavar="FILE",
            help="Ends in .csv, .json or .parquet. Default: CSV on standard output.",
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    output: Output = Format.TABLE,
) -> None:
    """Write what a job logged over time, all points that are kept."""
    with session(output) as current:
        if into is not None:
            CurveFormat.of(into)
        job = current.client.find(reference)
        results = current.client.results(job["id"])
        if into is not None:
            results.write_metrics(into, since=since, until=until)
            size = into.stat().st_size
            said = f"{into}: {words.size(size)}."
            current.terminal.show({"bytes": size, "file": str(into)}, said)
            return
        with tempfile.TemporaryDirectory() as folder:
            kind = CurveFormat.JSON if current.terminal.output is Format.JSON else CurveFormat.CSV
            file = Path(folder) / "curve"
            results.write_metrics(file, written_as=kind, since=since, until=until)
            with file.open(encoding="utf-8", newline="") as lines:
                sys.stdout.writelines(lines)


def tensorboard(
    references: JobReferences,
    *,
    into: Annotated[
        Path | None,
        typer.Option("--into", "-d", metavar="DIR", help="Keep the event files in this folder."),
    ] = None,
    only_write: Annotated[
        bool, typer.Option("--only-write", help="Write the event files, and open nothing.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Where TensorBoard listens.")
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Open the curves of jobs in TensorBoard, and go on writing them while the jobs train."""
    with session(output) as current, ExitStack() as kept:
        folder = into or Path(kept.enter_context(tempfile.TemporaryDirectory()))
        curves = dict(_curves(current, references, folder, kept))
        points = sum(curve.bring_up_to_date() for curve in curves.values())
        said = f"{points} points of {words.jobs(len(curves))} in {folder}."
        if only_write:
            current.terminal.show({"points": points, "folder": str(folder)}, said)
            return
        current.terminal.say(said)
        raise typer.Exit(_watch(current, folder, port, curves))


def _curves(
    current: Session, references: list[str], folder: Path, kept: ExitStack
) -> Iterator[tuple[str, EventFiles]]:
    for reference in dict.fromkeys(references):
        job = current.client.find(reference)
        place = folder / f"{job['team']}-{job['name']}-{job['id']}"
        files = current.client.results(job["id"]).event_files(place)
        kept.callback(files.close)
        yield job["id"], files


def _watch(
    current: Session, folder: Path, port: int | None, curves: Mapping[str, EventFiles]
) -> int:
    """Run TensorBoard until it ends or is interrupted; return its exit code."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder)]
    board = subprocess.Popen([*command, *(["--port", str(port)] if port else [])])  # noqa: S603 - ours
    live = dict(curves)
    try:
        while True:
            try:
                return board.wait(_LOOK_SECONDS if live else None)
            except subprocess.TimeoutExpired:
                live = {one: files for one, files in live.items() if _goes_on(current, one, files)}
    finally:
        board.terminate()
        board.wait()


def _goes_on(current: Session, job_id: str, curve: EventFiles) -> bool:
    """Write what is new; True: more may come."""
    try:
        is_over = current.client.job(job_id)["state"] in FINAL_STATES
        curve.bring_up_to_date()
    except Unreachable as error:
        current.terminal.say(f"{error.message} Trying again.", style="yellow")
        return True
    return not is_over
