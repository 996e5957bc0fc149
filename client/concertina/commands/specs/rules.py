"""`rules show`, `rules set`: what a team says of the specs of its jobs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from concertina.commands.options import AsPerson, Output, TeamArgument
from concertina.errors import BadInput
from concertina.input import job_files, overrides
from concertina.input.unlimited import NONE
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.specs.rules import rules_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from concertina.documents import TeamRules

app = typer.Typer(no_args_is_help=True, help="What a team says of the specs of its jobs.")
_PARTS: Final = ("defaults", "bounds", "labels", "pools", "modes")
_MANY: Final = "May be repeated; none takes it away."


def _option(name: str, metavar: str, help_text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=f"{help_text} {_MANY}")


@app.command("show")
def show_rules(team: TeamArgument = None, *, output: Output = Format.TABLE) -> None:
    """Show the rules that count for a team's jobs, with those of teams above it."""
    with session(output) as current:
        found = current.client.rules.of(team)
        current.terminal.show(found, rules_table(found))


@app.command("set")
def set_rules(
    team: Annotated[str, typer.Argument(metavar="TEAM", show_default=False)],
    *,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="All of them, in YAML; - reads stdin."),
    ] = None,
    default: Annotated[
        list[str] | None,
        _option("--default", "KEY=VALUE", "What a spec gets that says nothing."),
    ] = None,
    most: Annotated[
        list[str] | None, _option("--most", "FIELD=VALUE", "As gpus=8, max_duration=2d.")
    ] = None,
    least: Annotated[list[str] | None, _option("--least", "FIELD=VALUE", "Likewise.")] = None,
    label: Annotated[
        list[str] | None,
        _option("--label", "KEY[=VALUE,...]", "A label of each job; a value may have a *."),
    ] = None,
    pools: Annotated[
        str | None, typer.Option(metavar="POOL,...", help="In which jobs may run; none: any.")
    ] = None,
    modes: Annotated[
        str | None, typer.Option(metavar="MODE,...", help="Of elastic.mode; none: any.")
    ] = None,
    is_locked: Annotated[
        bool | None,
        typer.Option("--lock/--unlock", help="Keep leads of the team itself from changing them."),
    ] = None,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Change a team's rules: an admin, or a lead, who only tightens what is above. Others stay."""
    with session(output) as current, current.speaking_for(person) as client:
        found = client.rules.of(team)
        parts: dict[str, Any] = {}
        if file is not None:
            source = job_files.read(file)
            current.place_of = source.place
            parts = {**dict.fromkeys(_PARTS), **source.spec}
        rules = copy.deepcopy({**found["rules"], **parts})
        parts |= _defaults(rules, default or ())
        parts |= _bounds(rules, {"most": most or (), "least": least or ()})
        parts |= _labels(rules, label or ())
        for name, words in (("pools", pools), ("modes", modes)):
            if words is not None:
                parts[name] = None if words == NONE else _words(words)
        if is_locked is not None:
            parts["is_locked"] = is_locked
        if not parts:
            raise BadInput("Say what to change: --most, --label, --default, --pools, --file ...")
        after: TeamRules = client.rules.change(parts, version=found["version"], team=team)
        current.terminal.show(after, rules_table(after))


def _defaults(rules: Mapping[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    given = list(assignments)
    if not given:
        return {}
    made = _mapping(rules["defaults"], "defaults")
    for one in given:
        key, _, text = one.partition("=")
        if text == NONE:
            _take_out(made, key.split("."))
        else:
            made = overrides.applied(made, [one])
    return {"defaults": made}


def _take_out(part: dict[str, Any], path: list[str]) -> None:
    first, *rest = path
    if not rest:
        part.pop(first, None)
    elif isinstance(part.get(first), dict):
        part[first] = dict(part[first])
        _take_out(part[first], rest)
        if not part[first]:
            del part[first]


def _bounds(rules: Mapping[str, Any], given: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    made = _mapping(rules["bounds"], "bounds")
    is_changed = False
    for side, assignments in given.items():
        for one in assignments:
            name, equals, text = one.partition("=")
            if not equals or not text:
                raise BadInput(f"--{side} {one!r}: write FIELD=VALUE, as gpus=8.")
            is_changed = True
            bound = made[name] = _mapping(made.get(name), f"bounds.{name}")
            if text == NONE:
                bound.pop(side, None)
            else:
                bound[side] = overrides.applied({}, [f"x={text}"])["x"]
    return {"bounds": {name: bound for name, bound in made.items() if bound}} if is_changed else {}


def _labels(rules: Mapping[str, Any], given: Iterable[str]) -> dict[str, Any]:
    made, is_changed = _mapping(rules["labels"], "labels"), False
    for one in given:
        is_changed = True
        name, equals, text = one.partition("=")
        if equals and text == NONE:
            made.pop(name, None)
        elif not equals or not text:
            made[name] = {}
        elif "*" in text:
            made[name] = {"pattern": text}
        else:
            made[name] = {"values": _words(text)}
    return {"labels": made} if is_changed else {}


def _mapping(said: Any, place: str) -> dict[str, Any]:
    """A copy of a part of the rules. Raises: BadInput (a file has something else there)."""
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise BadInput(f"{place} of the file is no mapping. Write names with what they mean.")
    return dict(said)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]
