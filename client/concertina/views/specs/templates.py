"""What do templates of job specs look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from concertina import words
from concertina.views.fitting import FittingTable
from concertina.views.specs.rules import rule_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from concertina.documents import JobDetail, Template


def templates_table(templates: Iterable[Template]) -> FittingTable:
    """One row for each template."""
    table = FittingTable(
        *("TEMPLATE", "TEAM", "VERSION", "CHANGED", "DESCRIPTION"), first_to_go=("CHANGED",)
    )
    for one in templates:
        changed = words.date_time(one["changed_at"])
        table.add_row(one["name"], one["team"], str(one["version"]), changed, one["description"])
    return table


def template_view(template: Template) -> RenderableType:
    """A template whole, one row for each of its fields."""
    grid = Table.grid(padding=(0, 2))
    grid.add_row("Template", f"{template['team']}/{template['name']}")
    grid.add_row("Version", str(template["version"]))
    if template["description"]:
        grid.add_row("For", template["description"])
    by = f" by {template['changed_by']}" if template["changed_by"] else ""
    grid.add_row("Changed", f"{words.date_time(template['changed_at'])}{by}")
    for name, said in rule_rows({"defaults": template["spec"]}):
        grid.add_row(name.removeprefix("defaults."), said)
    return grid


def template_rows(job: JobDetail) -> Iterator[tuple[str, str]]:
    """Yield what a table of facts says of a job that began with a template; else nothing."""
    if (used := job.get("template")) is not None:
        yield "Template", f"{used['team']}/{used['name']}, version {used['version']}"
