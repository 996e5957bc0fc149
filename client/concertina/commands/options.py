"""Which options and arguments do several commands share?"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from concertina.commands.completion import completed_names
from concertina.input.moments import moment
from concertina.terminal.written import Format

Output = Annotated[Format, typer.Option("--output", "-o", help="Print for people or for programs.")]
JobReference = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="An id, a name, or team/name.",
        show_default=False,
        autocompletion=completed_names,
    ),
]
TeamArgument = Annotated[
    str | None, typer.Argument(metavar="[TEAM]", help="Default: the token's own.")
]
JobReferences = Annotated[
    list[str],
    typer.Argument(
        metavar="JOB...",
        help="Ids, names, or team/name.",
        show_default=False,
        autocompletion=completed_names,
    ),
]
File = Annotated[
    str,
    typer.Option("--file", "-f", metavar="FILE", help="Job spec in YAML or JSON; - reads stdin."),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change one field of the spec, like elastic.max_workers=8. May be repeated.",
    ),
]
PoolsOption = Annotated[
    str | None,
    typer.Option(
        "--pools",
        metavar="POOL,POOL…",
        help="As h100,a100: it starts in the one where it is worth most.",
    ),
]
TemplateOption = Annotated[
    str | None,
    typer.Option("--template", metavar="NAME", help="Fills in what the spec leaves out."),
]
TeamOption = Annotated[
    str | None, typer.Option("--team", metavar="TEAM", help="Default: the token's own.")
]
AsPerson = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="USER", help="A person; the password is asked for, or read from a pipe."
    ),
]
Since = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        parser=moment,
        metavar="WHEN",
        help="Nothing before 2026-11-01T12:00, or 36h ago.",
    ),
]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=moment,
        metavar="WHEN",
        help="As it was then: 2026-11-01T12:00, or 36h ago.",
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option("--until", parser=moment, metavar="WHEN", help="Nothing after that, likewise."),
]
After = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JOB[:END]",
        help="Start once this job completed; or ended as END says, any or failed. May be repeated.",
    ),
]
Why = Annotated[str, typer.Option("--reason", help="Kept with the job's history.")]
