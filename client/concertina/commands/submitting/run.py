"""`run`: a job without a job file, from a command line and the folder it is typed in."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from concertina.commands.logs import print_line
from concertina.commands.options import (
    After,
    Assignments,
    Output,
    PoolsOption,
    TemplateOption,
)
from concertina.commands.submitting.code import uploaded
from concertina.commands.submitting.submitted import finish, tell
from concertina.errors import BadInput
from concertina.input import overrides
from concertina.input.after import waiting
from concertina.terminal.session import session
from concertina.terminal.written import Format

_RANGE: Final = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?")
_NO_NAME: Final = re.compile(r"[^a-z0-9]+")
_LETTERS: Final = "23456789abcdefghjkmnpqrstuvwxyz"


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="As in a shell: -- python train.py --epochs 10"),
    ],
    *,
    workers: Annotated[
        str | None,
        typer.Option(metavar="N..M", help="How many workers it may have, as 1..8; usually 1."),
    ] = None,
    batch: Annotated[
        str | None, typer.Option(metavar="N..M", help="Global batch, as 64..1024 or 64.")
    ] = None,
    gpus_per_worker: Annotated[int | None, typer.Option(metavar="N")] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Made of the command when left out.")
    ] = None,
    team: Annotated[str | None, typer.Option(metavar="TEAM")] = None,
    pool: Annotated[str | None, typer.Option(metavar="POOL")] = None,
    pools: PoolsOption = None,
    image: Annotated[str | None, typer.Option(metavar="IMAGE")] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="May be repeated.")
    ] = None,
    secret: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="May be repeated.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE[:PATH]", help="As `data ls` shows it. May be repeated."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATTERN", help="Found in its log. May be repeated."),
    ] = None,
    priority: Annotated[int | None, typer.Option(metavar="N", help="0 to 100.")] = None,
    code: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of code that is sent along.")
    ] = Path(),
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Send none: the image has it.")
    ] = False,
    template: TemplateOption = None,
    assignments: Assignments = None,
    after: After = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a job file that does the same.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Stay until the job is final; tell its outcome.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="As --wait, and print its log meanwhile.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """Queue a job that runs a command, with the code of this folder."""
    with session(output) as current:
        if workers is None and template is None:
            workers = "1"
        fewest, most = _range(workers) if workers else (None, None)
        smallest, largest = _range(batch) if batch else (None, None)
        given = {
            "name": name or _name_of(command),
            "template": template,
            "team": team,
            "pool": pool,
            "pools": overrides.names_of(pools),
            "image": image,
            "command": command,
            "secrets": secret,
            "data": [_data(one) for one in data] if data else None,
            "metrics": [_metric(one) for one in metric] if metric else None,
            "priority": priority,
            "elastic.min_workers": fewest,
            "elastic.max_workers": most,
            "batch.global_batch_size.base": smallest,
            "batch.global_batch_size.max": largest,
            "resources.gpus_per_worker": gpus_per_worker,
        }
        variables = [f"env.{one}" for one in env or ()]
        spec = overrides.applied(overrides.nested(given), [*variables, *(assignments or ())])
        spec = waiting(spec, after or ())
        if save is not None:
            _save(save, spec, None if no_code else code)
        if not no_code:
            spec = uploaded(current, spec, code)
        submission = current.client.submit(spec)
        tell(current, submission)
        if follow:
            for line in current.client.follow_logs(submission.job["id"]):
                print_line(current.terminal, line, is_raw=False)
        finish(current, submission, is_waiting=wait or follow)


def _range(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise BadInput(f"{text!r} is no range. Write one number, or two as 1..8.")
    return int(found[1]), int(found[2] or found[1])


def _data(text: str) -> dict[str, str]:
    source, _, path = text.partition(":")
    return {"source": source, "path": path} if path else {"source": source}


def _metric(text: str) -> dict[str, str]:
    name, _, pattern = text.partition("=")
    if not name or not pattern:
        raise BadInput(f"{text!r} is no metric. Write NAME=PATTERN, as 'loss=loss[= ]([0-9.]+)'.")
    return {"name": name, "pattern": pattern}


def _name_of(command: list[str]) -> str:
    """Return `train-7k3p` for `python train.py --epochs 10`."""
    words = [Path(word).stem for word in command if not word.startswith("-")]
    script = next((word for word in words[1:] if word), words[0] if words else "job")
    plain = _NO_NAME.sub("-", script.lower()).strip("-")[:40] or "job"
    letters = "".join(random.choice(_LETTERS) for _ in range(4))  # noqa: S311 - no secret
    return f"{plain}-{letters}" if plain[0].isalpha() else f"job-{plain}-{letters}"


def _save(file: Path, spec: dict[str, Any], code: Path | None) -> None:
    import yaml  # noqa: PLC0415 - it takes a while to load

    beside = {} if code is None else {"code": {"path": str(code.resolve())}}
    try:
        text = yaml.safe_dump({**spec, **beside}, sort_keys=False, allow_unicode=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}.") from error
