"""`quota ls`, `quota set`, `quota preview`, `quota price`: what a team may use of each pool."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol, TypeVar

import typer

from concertina.commands.options import AsOf, AsPerson, Output, Since, TeamArgument
from concertina.errors import BadInput, RefusedByService
from concertina.input.unlimited import changes_of, count_or_none
from concertina.terminal.bar import ShareBar
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.quota_replays import (
    preview_lines,
    preview_table,
    price_lines,
    price_table,
)
from concertina.views.team.quotas import quotas_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.documents import QuotaPreview, QuotaPrice
    from concertina.terminal.session import Session

    _Asked = TypeVar("_Asked", QuotaPreview, QuotaPrice)

    class _Replays(Protocol[_Asked]):
        """Those of one kind."""

        def until_final(self, _: _Asked, on_progress: Callable[[_Asked], None]) -> _Asked: ...

        def cancel(self, _: str) -> _Asked: ...


_USUAL_DAYS: Final = 7.0
_DIGITS: Final = 6
app = typer.Typer(no_args_is_help=True, help="What a team may use of each pool.")


@app.command("ls")
def list_quotas(
    team: TeamArgument = None,
    *,
    as_of: AsOf = None,
    output: Output = Format.TABLE,
) -> None:
    """List what a team is guaranteed in each pool, lends, and may hold at most, or was then."""
    with session(output) as current:
        found = current.client.quotas.of(team, as_of=as_of)
        none = "It has no quota in any pool: it may use what is idle."
        if as_of is not None:
            none = "It had no quota in any pool then."
        current.terminal.show_rows(found, quotas_table(found), none=none)


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


@app.command("preview")
def preview_quotas(
    guaranteed: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEAM=GPUS]...", help="As much would be guaranteed to TEAM."),
    ] = None,
    *,
    pool: Annotated[str, typer.Option("--pool", metavar="POOL")] = "default",
    add_gpus: Annotated[
        int, typer.Option(metavar="GPUS", help="That the pool would have more; negative: fewer.")
    ] = 0,
    since: Since = None,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Replay the last 7 days with other quotas: who would have waited, borrowed, been paused?"""
    with session(output) as current:
        quotas = [_guarantee(text, pool) for text in guaranteed or ()]
        pools = [{"pool": pool, "add_gpus": add_gpus}] if add_gpus else []
        if not quotas and not pools:
            raise BadInput("Say what to preview: TEAM=GPUS, or --add-gpus.")
        with current.speaking_for(person) as client:
            asked = client.quota_previews.request(quotas, pools=pools, days=_days(since))
            found = _ended(current, client.quota_previews, asked)
        if found["result"] is None:
            why = found["error"] or f"It was {found['state']}."
            raise RefusedByService(f"There is no preview. {why}")
        current.terminal.show(found, preview_table(found["result"]))
        if not current.terminal.is_for_programs:
            for line in preview_lines(found["result"]):
                current.terminal.say(line)


@app.command("price")
def price_of_quota(
    team: Annotated[str, typer.Argument(metavar="TEAM", show_default=False)],
    *,
    pool: Annotated[str, typer.Option("--pool", metavar="POOL")] = "default",
    steps: Annotated[
        str | None,
        typer.Option(
            "--steps",
            metavar="GPUS,…",
            help="That it would be guaranteed more or fewer, at most 8; usually -2,-1,1,2,4.",
        ),
    ] = None,
    since: Since = None,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Replay the last 7 days to tell what each GPU of a guarantee is worth to the team."""
    with session(output) as current:
        chosen = None if steps is None else [_step(text) for text in steps.split(",")]
        with current.speaking_for(person) as client:
            asked = client.quota_prices.request(team, pool=pool, steps=chosen, days=_days(since))
            found = _ended(current, client.quota_prices, asked)
        if found["result"] is None:
            why = found["error"] or f"It was {found['state']}."
            raise RefusedByService(f"There is no price. {why}")
        current.terminal.show(found, price_table(found["result"]))
        if not current.terminal.is_for_programs:
            for line in price_lines(found["result"], days=found["request"]["days"]):
                current.terminal.say(line)


def _days(since: datetime | None) -> float:
    return _USUAL_DAYS if since is None else (datetime.now(UTC) - since).total_seconds() / 86400


def _step(text: str) -> int:
    digits = text.strip().removeprefix("+").removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS):
        raise BadInput(f"{text!r} is no number of GPUs. Write --steps=-1,1,2.")
    return int(text)


def _guarantee(text: str, pool: str) -> dict[str, Any]:
    team, separator, gpus = text.partition("=")
    if not (separator and team and gpus.isascii() and gpus.isdecimal() and len(gpus) <= _DIGITS):
        raise BadInput(f"{text!r} is no guarantee. Write TEAM=GPUS, as vision=6.")
    return {"team": team, "pool": pool, "guaranteed_gpus": int(gpus)}


def _ended(current: Session, replays: _Replays[_Asked], asked: _Asked) -> _Asked:
    """Wait for it; whoever stops waiting gives it up."""
    try:
        with ShareBar(current.terminal.err, "Replaying") as bar:
            return replays.until_final(asked, lambda one: bar(one["progress"]))
    except KeyboardInterrupt:
        replays.cancel(asked["id"])
        raise
