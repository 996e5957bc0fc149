"""`init`: a job file to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final

import typer

from concertina.commands.options import Output
from concertina.errors import BadInput
from concertina.terminal.session import session
from concertina.terminal.written import Format

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_JOB_FILE: Final = """\
# A job of Concertina. Check it with `concertina validate -f {file}`, queue it with
# `concertina submit -f {file}`. Every field is told in docs/jobs/job-spec.md.
name: {name}
command: [python, train.py]
code: {{path: .}}            # this folder goes along; what .gitignore names stays here

elastic:                   # the platform chooses within these, and may change it while it trains
  min_workers: 1
  max_workers: 4
batch:
  global_batch_size: {{base: 64, min: 64, max: 256}}   # over all workers together

# resources: {{gpus_per_worker: 1, memory: 16GiB}}      # of each worker
# checkpoint: {{interval: 5m, keep_last: 3}}
# data: [{{source: imagenet, path: train}}]               # see `concertina data ls`
# secrets: [wandb]                                     # see `concertina secrets ls`
# priority: 50                                         # 0 to 100, higher wins
# labels: {{project: first-steps}}
"""


def init(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The job file that is written.")
    ] = Path("job.yaml"),
    *,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the job. Left out, the folder's.")
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Write a job file to begin with; nothing that is there is written over."""
    with session(output) as current:
        job_name = _name_of(file.resolve().parent) if name is None else _checked(name)
        try:
            with file.open("x", encoding="utf-8") as stream:
                stream.write(_JOB_FILE.format(file=file, name=_as_yaml(job_name)))
        except FileExistsError as error:
            raise BadInput(f"{file} is there already. Name another, or move it away.") from error
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error.strerror}.") from error
        words = f"Wrote {file}. Set its command, then: concertina validate -f {file}"
        current.terminal.show({"file": str(file), "name": job_name}, words, is_uncut=True)


def _checked(name: str) -> str:
    if not name or _NOT_IN_A_NAME.search(name):
        raise BadInput(f"{name!r} is no name of a job: use letters, digits, '.', '-' and '_'.")
    return name


def _as_yaml(name: str) -> str:
    """Quote a name that YAML would read as something else, such as 2026 or null."""
    import yaml  # noqa: PLC0415 - it takes a while to load

    return yaml.safe_dump(name).splitlines()[0]


def _name_of(folder: Path) -> str:
    """Return the folder's name as a job may bear it."""
    plain = _NOT_IN_A_NAME.sub("-", folder.name).strip("-._")[:80]
    return plain or "first-job"
