"""`quota ls`, `quota set`: what a team may use of each pool."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output
from concertina.errors import BadInput
from concertina.input.unlimited import changes_of, count_or_none
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.quotas import quotas_table

app = typer.Typer(no_args_is_help=True, help="What a team may use of each pool.")


@app.command("ls")
def list_quotas(
    team: Annotated[
        str | None, typer.Argument(metavar="[TEAM]", help="Default: the token's own.")
    ] = None,
    *,
    output: Output = Format.TABLE,
) -> None:
    """List what a team is guaranteed in each pool, lends, and may hold at most."""
    with session(output) as current:
        found = current.client.quotas.of(team)
        if not found and not current.terminal.is_for_programs:
            current.terminal.say("It has no quota in any pool: it may use what is idle.")
            return
        current.terminal.show(found, quotas_table(found))


@app.command("set")
def set_quota(
    team: Annotated[str, typer.Argument(metavar="TEAM", show_default=False)],
    pool: Annotated[str, typer.Argument(metavar="POOL", show_default=False)],
    *,
    guaranteed: Annotated[
        int | None, typer.Option(min=0, metavar="GPUS", help="That it gets back within seconds.")
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="GPUS", help="That it may hold at most; none: the whole pool."),
    ] = None,
    lending_limit: Annotated[
        str | None,
        typer.Option(metavar="GPUS", help="Of its guarantee that others may use; none: all."),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(min=0.0, help="Of its share of what is idle.")
    ] = None,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Change a team's quota in a pool: an admin, or a lead of a team above. The rest stays."""
    changes = changes_of(
        {
            "guaranteed_gpus": guaranteed,
            "limit_gpus": count_or_none("--limit", limit, unit="GPUs"),
            "lending_limit_gpus": count_or_none("--lending-limit", lending_limit, unit="GPUs"),
            "over_quota_weight": weight,
        }
    )
    with session(output) as current:
        if not changes:
            raise BadInput("Say what to change: --guaranteed, --limit, --lending-limit, --weight.")
        with current.speaking_for(person) as client:
            quota = client.quotas.change(pool, changes, team=team)
        current.terminal.show(quota, quotas_table([quota]))
