"""`models`, `models add`, `show`, `get`, `alias`, `rm`: checkpoints that somebody gave a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.commands.options import JobReference, Output, TeamOption
from concertina.commands.results.listing import ListingGroup
from concertina.errors import BadInput
from concertina.terminal.bar import TransferBar
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.results import model_text, models_table

if TYPE_CHECKING:
    from concertina.documents import ModelVersion

app = typer.Typer(
    cls=ListingGroup,
    help="Keep checkpoints under names. `models ls` lists them.",
    no_args_is_help=True,
)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="NAME, NAME@VERSION or NAME@ALIAS.")]


@app.command("ls")
def ls(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Only this one. Default: all.")] = "",
    *,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """List a team's models, each with its versions."""
    with session(output) as current:
        found = [one for one in current.client.models(team).all() if name in {"", one["name"]}]
        current.terminal.show_rows(
            found, models_table(found), none="None. `concertina models add JOB NAME` makes one."
        )


@app.command("add")
def add(
    reference: JobReference,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the model, new or known.")],
    *,
    step: Annotated[
        str,
        typer.Option("--step", metavar="STEP", help="Of the checkpoint; or latest, or best."),
    ] = "latest",
    alias: Annotated[
        str, typer.Option("--alias", metavar="WORD", help="That means it from now on.")
    ] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="For people.")] = "",
    output: Output = Format.TABLE,
) -> None:
    """Make a checkpoint of a job the next version of a model. JOB/STEP says the same as --step."""
    above, _, last = reference.rpartition("/")
    if above and (last.isdigit() or last in {"latest", "best"}):
        reference, step = above, last
    with session(output) as current:
        job = current.client.find(reference)
        models = current.client.models(job["team"])
        made = models.add(name, job=job["id"], step=step, alias=alias, note=note)
        said = f"{_name(made)} is step {made['step']} of {made['job_name']}."
        current.terminal.show(made, said)


@app.command("show")
def show(model: Model, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Show how a version came to be."""
    with session(output) as current:
        found = current.client.models(team).get(model)
        current.terminal.show(found, model_text(found))


@app.command("get")
def get(
    model: Model,
    weights: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Ends in .safetensors or .pt. Default: NAME.safetensors."
        ),
    ] = None,
    *,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Fetch the weights of a version, for any program."""
    with session(output) as current:
        into = weights or Path(f"{model.partition('@')[0]}.safetensors")
        with TransferBar(current.terminal.err, "Fetching") as bar:
            found = current.client.models(team).download(model, into, on_progress=bar)
        said = f"{_name(found)} in {into}: {words.size(into.stat().st_size)}."
        document = {"version": found["version"], "digest": found["digest"], "path": str(into)}
        current.terminal.show(document, said)


@app.command("alias")
def alias(
    model: Model,
    word: Annotated[str, typer.Argument(metavar="WORD", help="Such as production.")],
    *,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the word away from the model instead.")
    ] = False,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Let a word mean a version, whatever it meant before."""
    with session(output) as current:
        models = current.client.models(team)
        if remove:
            models.delete_alias(model, word)
            current.terminal.show({"deleted": word}, f"No version of {model} is {word} any more.")
            return
        found = models.set_alias(model, word)
        current.terminal.show(found, f"{_name(found)} is {word}.")


@app.command("rm")
def rm(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="NAME@VERSION, or with --all NAME.")
    ],
    *,
    whole: Annotated[bool, typer.Option("--all", help="All versions of models.")] = False,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Delete versions of models that nobody uses. There is no way back."""
    with session(output) as current:
        for one in models:
            if ("@" in one) == whole:
                raise BadInput(
                    f"{one}: write NAME@VERSION for one version, or NAME with --all for all."
                )
        for one in models:
            current.client.models(team).delete(one)
        current.terminal.show({"deleted": models}, f"Deleted: {', '.join(models)}.")


def _name(version: ModelVersion) -> str:
    return f"{version['model']}@{version['version']}"
