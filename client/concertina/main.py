"""The command line `concertina`: which verbs are there?"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from concertina.commands import (
    control,
    dashboard,
    diff,
    inspect,
    login,
    logs,
    removal,
    top,
)
from concertina.commands.installation import admin, cluster, context, prices, simulate
from concertina.commands.results import checkpoints, curves, models, outputs
from concertina.commands.specs import rules, templates
from concertina.commands.submitting import (
    arrays,
    code,
    convert,
    edit,
    init,
    run,
    schedules,
    submit,
    sweeps,
)
from concertina.commands.team import (
    audit,
    data,
    gpu_hours,
    keeping,
    limits,
    members,
    network,
    quotas,
    secrets,
    tokens,
    webhooks,
)
from concertina.connection import contexts
from concertina.errors import BadInput

_EXIT_CODES = (
    "Exit codes: 0 done, or the job completed · 1 the job failed · 2 wrong usage · "
    "3 refused by the service · 4 not found · 5 not logged in or not allowed · "
    "6 service unreachable · 7 the job was cancelled · 8 its script ended early · "
    "9 the set-up would change · 130 interrupted."
)

app = typer.Typer(
    help="Submit elastic training jobs to a Concertina service, and watch them.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    login.login,
    login.logout,
    login.whoami,
    init.init,
    convert.convert,
    submit.submit,
    submit.validate,
    submit.wait,
    inspect.ps,
    inspect.describe,
    inspect.explain,
    inspect.advice,
    diff.diff,
    inspect.usage,
    keeping.storage,
    logs.logs,
    curves.metrics,
    curves.tensorboard,
    control.pause,
    control.resume,
    control.cancel,
    edit.edit,
    edit.rerun,
    code.code,
    removal.delete,
    removal.pin,
    removal.unpin,
    top.top,
    cluster.teams,
    cluster.pools,
    cluster.nodes,
    cluster.cordon,
    cluster.drain,
    cluster.uncordon,
    gpu_hours.gpu_hours,
    gpu_hours.fairness,
    gpu_hours.report,
    simulate.simulate,
    audit.audit,
    network.network,
):
    app.command()(command)
app.command(name="open")(dashboard.open_in_browser)
app.command(context_settings={"allow_interspersed_args": False})(run.run)
app.add_typer(admin.app, name="admin")
app.add_typer(arrays.app, name="arrays")
app.add_typer(checkpoints.app, name="checkpoints")
app.add_typer(context.app, name="context")
app.add_typer(data.app, name="data")
app.add_typer(limits.app, name="limits")
app.add_typer(members.app, name="members")
app.add_typer(models.app, name="models")
app.add_typer(outputs.app, name="outputs")
app.add_typer(rules.app, name="rules")
app.add_typer(schedules.app, name="schedules")
app.add_typer(sweeps.app, name="sweeps")
app.add_typer(templates.app, name="templates")
app.add_typer(tokens.app, name="tokens")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(keeping.app, name="retention")
app.add_typer(prices.app, name="price")
app.add_typer(quotas.app, name="quota")
app.add_typer(secrets.app, name="secrets")


def _tell_version(is_asked: bool) -> None:  # noqa: FBT001 - Typer gives the value so
    if is_asked:
        from importlib import metadata  # noqa: PLC0415 - which takes a while to load

        typer.echo(f"concertina {metadata.version('concertina')}")
        raise typer.Exit


def _choose(name: str | None) -> None:
    if name:
        try:
            contexts.choose_for_once(name)
        except BadInput as problem:
            raise typer.BadParameter(problem.message) from problem


@app.callback()
def common(
    *,
    _context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            callback=_choose,
            help="Mean this installation for once: see `concertina context`.",
            envvar=contexts.CONTEXT_VARIABLE,
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Say which release this is."
        ),
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Run the command line; what the terminal's encoding lacks becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="concertina")
