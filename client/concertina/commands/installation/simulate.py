"""`simulate`: what would another policy, another workload or more GPUs mean?"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from concertina.commands.options import AsPerson, Output
from concertina.errors import BadInput, ConcertinaError, RefusedByService
from concertina.terminal.bar import ShareBar
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.installation.simulation import simulation_sentences, simulation_table

if TYPE_CHECKING:
    from concertina.client import Client
    from concertina.documents import SimulationDetail

_LARGEST_TRACE: Final = 64 << 20  # bytes; the service takes less, and says how much
_RIVAL: Final = "static"  # what is not elastic, which others are measured against


def simulate(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POLICY]...",
            help="Like completion_time or fixed_batch:batch=min. Default: the pool's, and static.",
            show_default=False,
        ),
    ] = None,
    *,
    days: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=90, help="Replay the jobs of the last days, which admins may see."
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Replay a recording; - reads stdin."),
    ] = None,
    pattern: Annotated[
        str, typer.Option(help="Without --days and --trace: how jobs come.", metavar="PATTERN")
    ] = "poisson",
    mix: Annotated[
        str, typer.Option(help="Without --days and --trace: which jobs.", metavar="MIX")
    ] = "production",
    jobs: Annotated[
        int, typer.Option(min=1, max=20_000, help="Without --days and --trace: how many.")
    ] = 160,
    load: Annotated[
        float, typer.Option(min=0.01, max=10, help="Likewise: 1.0 fills every GPU.")
    ] = 0.8,
    pool: Annotated[str, typer.Option("--pool", metavar="POOL")] = "default",
    add_gpus: Annotated[
        int,
        typer.Option(metavar="GPUS", help="Try each policy with so many more as well; or fewer."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Another one draws other jobs.")] = 0,
    title: Annotated[str, typer.Option(metavar="TEXT", help="For its page.")] = "What if",
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Replay a workload under several policies: who would finish when, at which price?

    Ctrl-C gives it up. With -o csv a row is a run.
    """
    with session(output) as current:
        if person is not None and str(trace) == "-" and not sys.stdin.isatty():
            raise BadInput("The password comes from the pipe. Name the file of the recording.")
        drawn = {"pattern": pattern, "mix": mix, "jobs": jobs, "load": load}
        wish = {"title": title, "pool": pool, "seed": seed, "trace": _trace(days, trace, drawn)}
        with current.speaking_for(person) as client:
            wish["policies"] = policies or _usual(client, pool)
            wish["add_gpus"] = add_gpus
            found = _ended(current, client, client.simulations.request(wish))
        result = found["result"]
        if result is None:
            why = found["error"] or f"It was {found['state']}."
            raise RefusedByService(f"Nothing came out of the simulation. {why}")
        document: Any = result["runs"] if output is Format.CSV else found
        current.terminal.show(document, simulation_table(result))
        if not current.terminal.is_for_programs:
            for line in simulation_sentences(result):
                current.terminal.say(line)


def _trace(days: float | None, file: Path | None, drawn: dict[str, Any]) -> dict[str, Any]:
    """Return where the workload comes from.

    Raises:
        BadInput: two places are named, or the file cannot be read.
    """
    if days is not None and file is not None:
        raise BadInput("A simulation replays either --days or --trace. Leave one out.")
    if days is not None:
        return {"kind": "history", "days": days}
    if file is None:
        return {"kind": "generated", **drawn}
    try:
        if str(file) == "-":
            text = sys.stdin.read(_LARGEST_TRACE + 1)
        else:
            with file.open(encoding="utf-8") as opened:
                text = opened.read(_LARGEST_TRACE + 1)
        size = len(text.encode())  # an input that is not text cannot be encoded again
    except (OSError, ValueError) as problem:
        raise BadInput(f"{file} cannot be read: {problem}.") from problem
    if size > _LARGEST_TRACE:
        raise BadInput(f"{file} is longer than {_LARGEST_TRACE >> 20} MiB. Cut the recording.")
    return {"kind": "uploaded", "text": text}


def _usual(client: Client, pool: str) -> list[str]:
    """Return the policy that the pool has, and what it is measured against."""
    mine = [one["policy"] for one in client.pools() if one["name"] == pool]
    return list(dict.fromkeys([*mine, _RIVAL]))


def _ended(current: Session, client: Client, simulation: SimulationDetail) -> SimulationDetail:
    """Wait for it; whoever stops waiting gives it up."""
    try:
        with ShareBar(current.terminal.err, "Simulating") as bar:
            return client.simulations.until_final(simulation, lambda one: bar(one["progress"]))
    except KeyboardInterrupt:
        with suppress(ConcertinaError):  # it has ended by now, or nobody answers
            client.simulations.cancel(simulation["id"])
        raise
