"""`price ls`, `price set`, `price rm`: what a GPU-hour of a pool costs, from which day on."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Annotated

import typer

from concertina.commands.installation.cluster import PoolOption
from concertina.commands.options import AsPerson, Output
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.gpu_hours import prices_table

app = typer.Typer(no_args_is_help=True, help="What a GPU-hour of a pool costs, and from when on.")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no day. Write it as 2026-11-01.") from None


def _price(text: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not price >= 0 or not math.isfinite(price):
        raise typer.BadParameter(f"{text!r} is no price. Write a number, as 2.50.")
    return price


PoolName = Annotated[str, typer.Argument(metavar="POOL", show_default=False)]
ChangesPast = Annotated[
    bool,
    typer.Option("--changes-past", help="Also if reports of the past say something else then."),
]


@app.command("ls")
def list_prices(*, pool: PoolOption = None, output: Output = Format.TABLE) -> None:
    """List what GPU-hours cost, and what they did before."""
    with session(output) as current:
        found = current.client.gpu_prices.read(pool)
        current.terminal.show_rows(list(found), prices_table(found), none="No pool has a price.")


@app.command("set")
def set_price(
    pool: PoolName,
    price: Annotated[
        float, typer.Argument(parser=_price, metavar="PRICE", help="Of a GPU for an hour.")
    ],
    *,
    since: Annotated[
        date | None,
        typer.Option(parser=_day, metavar="DAY", help="From this day of UTC on. Default: today."),
    ] = None,
    changes_past: ChangesPast = False,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Set what a GPU-hour of a pool costs from a day on: an admin."""
    day = datetime.now(UTC).date() if since is None else since
    with session(output) as current:
        with current.speaking_for(person) as client:
            made = client.gpu_prices.set_price(pool, day, price, changes_past=changes_past)
        current.terminal.show(made, prices_table([made]))


@app.command("rm")
def take_price_back(
    pool: PoolName,
    since: Annotated[date, typer.Argument(parser=_day, metavar="DAY", show_default=False)],
    *,
    changes_past: ChangesPast = False,
    person: AsPerson = None,
) -> None:
    """Take the price back that begins on a day: the one before holds on. An admin."""
    with session(Format.TABLE) as current:
        with current.speaking_for(person) as client:
            client.gpu_prices.take_back(pool, since, changes_past=changes_past)
        current.terminal.say(f"The price of pool {pool} from {since} on is gone.")
