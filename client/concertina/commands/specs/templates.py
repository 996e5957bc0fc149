"""`templates list`, `show`, `add`, `change`, `delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from concertina.commands.options import Assignments, Output, TeamOption
from concertina.errors import BadInput
from concertina.input import job_files, overrides
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.specs.templates import template_view, templates_table

if TYPE_CHECKING:
    from concertina.documents import Template

app = typer.Typer(no_args_is_help=True, help="Parts of job specs that jobs begin with.")
Name = Annotated[str, typer.Argument(metavar="TEMPLATE", help="Its name.", show_default=False)]
File = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="Part of a spec, in YAML; - reads stdin."),
]
Description = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What it is for, in a sentence.")
]


@app.command("list")
def list_templates(*, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """List the templates that jobs of a team may name."""
    with session(output) as current:
        items = current.client.templates.all(team)
        current.terminal.show_rows(
            items, templates_table(items), none="No templates. `concertina templates add` adds one."
        )


@app.command("show")
def show_template(name: Name, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Show a template with all that it fills in."""
    with session(output) as current:
        found = current.client.templates.read(name, team=team)
        current.terminal.show(found, template_view(found))


@app.command("add")
def add_template(
    name: Name,
    *,
    file: File = None,
    assignments: Assignments = None,
    description: Description = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Keep a part of a job spec, which a job gets that says `template: NAME`."""
    with session(output) as current:
        spec = _spec(current, file, assignments, {})
        made = current.client.templates.add(name, spec, description=description or "", team=team)
        _tell(current, made)


@app.command("change")
def change_template(
    name: Name,
    *,
    file: File = None,
    assignments: Assignments = None,
    description: Description = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Change a template; --set without --file changes the part that it has."""
    with session(output) as current:
        found = current.client.templates.read(name, team=team)
        changes: dict[str, Any] = {} if description is None else {"description": description}
        if file is not None or assignments:
            changes["spec"] = _spec(current, file, assignments, found["spec"])
        if not changes:
            raise BadInput("Say what to change: --file, --set, --description.")
        version = found["version"]
        _tell(current, current.client.templates.change(name, changes, version=version, team=team))


@app.command("delete")
def delete_template(name: Name, *, team: TeamOption = None, output: Output = Format.TABLE) -> None:
    """Delete a template; jobs that began with it stay as they are."""
    with session(output) as current:
        current.client.templates.remove(name, team=team)
        said = f"Template {name} is deleted. Jobs that began with it stay as they are."
        current.terminal.show({"template": name, "deleted": True}, said)


def _spec(
    current: Session, file: str | None, assignments: list[str] | None, own: dict[str, Any]
) -> dict[str, Any]:
    if file is None:
        if not assignments:
            raise BadInput("Say what it fills in: --file, --set.")
        return overrides.applied(own, assignments)
    source = job_files.read(file)
    current.place_of = source.place
    return overrides.applied(source.spec, assignments or ())


def _tell(current: Session, template: Template) -> None:
    version = template["version"]
    said = f"Template {template['team']}/{template['name']} has version {version} now."
    current.terminal.show(template, said)
