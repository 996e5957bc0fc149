"""`limits show`, `limits set`: how many jobs of a team run, and the GPUs and GPU-hours they use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamArgument
from concertina.errors import BadInput
from concertina.input.unlimited import NONE, changes_of, count_or_none
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.limits import limits_table

if TYPE_CHECKING:
    from concertina.documents import TeamDetail

app = typer.Typer(
    no_args_is_help=True, help="How many jobs of a team run, and the GPUs and GPU-hours they use."
)


@app.command("show")
def show_limits(
    team: TeamArgument = None,
    *,
    output: Output = Format.TABLE,
) -> None:
    """Show a team's limits, and how its GPU-hours of the month stand."""
    with session(output) as current:
        found = current.client.limits.of(team)
        current.terminal.show(_shown(found), limits_table(found))


@app.command("set")
def set_limits(
    team: Annotated[str, typer.Argument(metavar="TEAM", show_default=False)],
    *,
    running_jobs: Annotated[
        str | None,
        typer.Option(metavar="JOBS", help="That hold GPUs at once, with teams below; none: any."),
    ] = None,
    running_jobs_per_user: Annotated[
        str | None, typer.Option(metavar="JOBS", help="Of these, of each person or token.")
    ] = None,
    queued_jobs_per_user: Annotated[
        str | None, typer.Option(metavar="JOBS", help="That wait, of each person or token.")
    ] = None,
    gpus_per_user: Annotated[
        str | None,
        typer.Option(metavar="GPUS", help="At once, of each person or token; none: any."),
    ] = None,
    gpu_hours: Annotated[
        str | None, typer.Option(metavar="HOURS", help="Of GPUs in a month of UTC; none: any.")
    ] = None,
    when_used_up: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="no_new: none starts; pause: running ones pause, too."),
    ] = None,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Change a team's limits: an admin, or a lead. The rest stays."""
    changes = changes_of(
        {
            "max_running_jobs": count_or_none("--running-jobs", running_jobs, unit="jobs"),
            "max_running_jobs_per_user": count_or_none(
                "--running-jobs-per-user", running_jobs_per_user, unit="jobs"
            ),
            "max_queued_jobs_per_user": count_or_none(
                "--queued-jobs-per-user", queued_jobs_per_user, unit="jobs"
            ),
            "max_gpus_per_user": count_or_none("--gpus-per-user", gpus_per_user, unit="GPUs"),
            "gpu_hours_per_month": _hours_or_none(gpu_hours),
            "when_used_up": when_used_up,
        }
    )
    with session(output) as current:
        if not changes:
            raise BadInput("Say what to change: --running-jobs, --gpu-hours, --when-used-up, ...")
        with current.speaking_for(person) as client:
            client.limits.change(changes, team=team)
            found = client.limits.of(team)
        current.terminal.show(_shown(found), limits_table(found))


def _shown(team: TeamDetail) -> dict[str, object]:
    return {
        name: team[name]
        for name in (
            "name",
            "max_running_jobs",
            "max_running_jobs_per_user",
            "max_queued_jobs_per_user",
            "max_gpus_per_user",
            "gpu_hours_per_month",
            "when_used_up",
            "budgets",
        )
    }


def _hours_or_none(text: str | None) -> float | str | None:
    if text is None or text == NONE:
        return text
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not math.isfinite(hours):
        raise typer.BadParameter(f"--gpu-hours is a number of hours, or {NONE}.")
    return hours
