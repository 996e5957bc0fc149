"""`checkpoints JOB`, `checkpoints get`, `checkpoints rm`: the states that a job can go on from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.commands.options import JobReference, Output
from concertina.commands.results.listing import ListingGroup
from concertina.errors import BadInput
from concertina.states import FINAL_STATES
from concertina.terminal.bar import TransferBar
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.results import checkpoints_table

if TYPE_CHECKING:
    from concertina.documents import JobDetail

app = typer.Typer(
    cls=ListingGroup,
    help="Look at, fetch or delete a job's checkpoints. `checkpoints JOB` lists them.",
    no_args_is_help=True,
)


@app.command("ls")
def ls(reference: JobReference, *, output: Output = Format.TABLE) -> None:
    """List a job's checkpoints, newest first, while it runs as well."""
    with session(output) as current:
        job = current.client.find(reference)
        found = list(current.client.results(job["id"]).checkpoints.all())
        if not found and not current.terminal.is_for_programs:
            current.terminal.say(_why_none(current.client.job(job["id"])))
            return
        current.terminal.show(found, checkpoints_table(found))


@app.command("get")
def get(
    reference: JobReference,
    which: Annotated[
        str, typer.Argument(metavar="STEP", help="Or latest, or best, by checkpoint.keep_best.")
    ] = "latest",
    *,
    into: Annotated[
        Path | None,
        typer.Option("--into", "-d", metavar="DIR", help="Default: a folder of the job's name."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            metavar="FILE",
            help="The weights alone, for any program: model.safetensors, or model.pt, which takes"
            " PyTorch here.",
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Fetch a checkpoint: its weights, and the rest of the training."""
    with session(output) as current:
        if into is not None and weights is not None:
            raise BadInput("Use --into or --weights, not both.")
        job = current.client.find(reference)
        checkpoints = current.client.results(job["id"]).checkpoints
        with TransferBar(current.terminal.err, "Fetching") as bar:
            if weights is not None:
                found, place = (
                    checkpoints.download_weights(which, weights, on_progress=bar),
                    weights,
                )
            else:
                folder = into or Path(f"{job['name']}-checkpoint")
                found, place = checkpoints.download(which, folder, on_progress=bar), folder
        said = f"Step {found['step']} of {job['team']}/{job['name']} in {place}"
        document = {"step": found["step"], "digest": found["digest"], "path": str(place)}
        current.terminal.show(document, f"{said}: {words.size(_bytes(place))}.")


@app.command("rm")
def rm(
    reference: JobReference,
    steps: Annotated[list[str], typer.Argument(metavar="STEP...", help="As they are listed.")],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Delete checkpoints of a job. There is no way back."""
    with session(output) as current:
        job = current.client.find(reference)
        for step in steps:
            current.client.results(job["id"]).checkpoints.delete(step)
        said = f"Deleted of {job['team']}/{job['name']}: {', '.join(steps)}."
        current.terminal.show({"deleted": steps}, said)


def _why_none(job: JobDetail) -> str:
    if job["mode"] != "hot":
        return "None. Jobs that use the library in hot mode write them."
    if job["state"] in FINAL_STATES:
        return "None. It ended before the first was written, or they were deleted."
    interval = job["resolved_spec"]["checkpoint"]["interval"]
    return f"None yet. It writes one after each {interval} of training (checkpoint.interval)."


def _bytes(place: Path) -> int:
    files = place.iterdir() if place.is_dir() else (place,)
    return sum(file.stat().st_size for file in files)
