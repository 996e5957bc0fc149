"""`code`, and what every submission does with the code of its job: pack it, upload it, name it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from concertina import words
from concertina.code import provenance
from concertina.code.spec import folder_of
from concertina.commands.options import JobReference, Output
from concertina.input.job_files import STDIN
from concertina.terminal.bar import TransferBar
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format


def code(
    reference: JobReference,
    *,
    into: Annotated[
        Path,
        typer.Option("--into", "-d", metavar="DIR", help="A folder that is empty or new."),
    ],
    output: Output = Format.TABLE,
) -> None:
    """Bring back the code that a job was submitted with."""
    with session(output) as current:
        job = current.client.find(reference)
        files = current.client.download_code(job["id"], into)
        said = f"The code of {job['team']}/{job['name']} is in {into}: {words.files(files)}."
        current.terminal.show({"files": files, "folder": str(into)}, said)


def folder_beside(spec: dict[str, Any], file: str) -> Path | None:
    """Return the folder of code that a spec of this file names. Raises: BadInput."""
    return folder_of(spec, None if file == STDIN else Path(file).parent)


def uploaded(current: Session, spec: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the spec as it is sent: the folder is uploaded, and its snapshot named.

    Raises:
        BadInput: the folder cannot be packed.
    """
    team = spec.get("team") or spec.get("project")
    with TransferBar(current.terminal.err, "Sending code") as bar:
        made = current.client.upload_code(
            folder, team=team if isinstance(team, str) else None, on_progress=bar
        )
    what = f"{words.files(made.files)}, {words.size(made.bytes)}"
    how = "sent" if made.is_new else "there already"
    current.terminal.say(f"Code of {folder.resolve()}: {what}, {how}.")
    git = provenance.of(folder)
    return {**spec, "code": {"digest": made.digest, **({"git": git} if git else {})}}
