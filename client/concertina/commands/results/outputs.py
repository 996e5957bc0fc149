"""`outputs ls`, `outputs get`, `outputs rm`: the files that a job hands over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.commands.options import JobReference, Output
from concertina.errors import NotFound
from concertina.terminal.bar import TransferBar
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.results import outputs_table

if TYPE_CHECKING:
    from concertina.results.job_results import JobResults

app = typer.Typer(
    help="Look at, fetch or delete what a job writes to its outputs.", no_args_is_help=True
)

OutputPath = Annotated[str, typer.Argument(metavar="PATH", help="As `outputs ls` shows it.")]


@app.command("ls")
def ls(
    reference: JobReference,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Default: all outputs.")] = "",
    *,
    output: Output = Format.TABLE,
) -> None:
    """List a folder of a job's outputs, while it runs as well."""
    with session(output) as current:
        job = current.client.find(reference)
        found = list(current.client.results(job["id"]).outputs(folder.rstrip("/")))
        current.terminal.show_rows(
            found,
            outputs_table(found),
            none="Nothing yet. Jobs hand over what they write to their outputs.",
        )


@app.command("get")
def get(
    reference: JobReference,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A file or a folder. Default: all outputs.")
    ] = "",
    *,
    into: Annotated[
        Path,
        typer.Option("--into", "-d", metavar="DIR", help="For a folder one that is empty or new."),
    ] = Path(),
    output: Output = Format.TABLE,
) -> None:
    """Fetch a file of a job's outputs, or a folder with all that is in it."""
    with session(output) as current:
        job, path = current.client.find(reference), path.rstrip("/")
        results, target = current.client.results(job["id"]), into / path.rpartition("/")[2]
        size = _fetched(results, path, target, current) if path else None
        if size is None:
            files = results.download_folder(path, into)
            said = f"{words.files(files)} of {job['team']}/{job['name']} in {into}."
            current.terminal.show({"files": files, "folder": str(into)}, said)
        else:
            said = f"{target}: {words.size(size)}."
            current.terminal.show({"bytes": size, "file": str(target)}, said)


def _fetched(results: JobResults, path: str, target: Path, current: Session) -> int | None:
    """Fetch a file, and return its bytes; None: there is none, so it may be a folder."""
    with TransferBar(current.terminal.err, "Fetching") as bar:
        try:
            return results.download(path, target, on_progress=bar)
        except NotFound:
            return None


@app.command("rm")
def rm(
    reference: JobReference,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files or folders of its outputs.")
    ],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Delete files or folders of a job's outputs. There is no way back."""
    with session(output) as current:
        job = current.client.find(reference)
        for path in paths:
            current.client.results(job["id"]).delete(path.rstrip("/"))
        said = f"Deleted of {job['team']}/{job['name']}: {', '.join(paths)}."
        current.terminal.show({"deleted": paths}, said)
