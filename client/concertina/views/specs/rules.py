"""What do the rules of a team look like, with those of the teams above it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.console import Group

from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from concertina.documents import TeamRules


def rules_table(found: TeamRules) -> RenderableType:
    """One row for each rule: whose it is, what it is about, and what it says."""
    table = FittingTable("TEAM", "RULE", "SAYS")
    of_teams: list[tuple[str, Mapping[str, Any]]] = [(found["team"], found["rules"])]
    of_teams += [(one["team"], one["rules"]) for one in found["above"]]
    rows = [(team, *row) for team, rules in of_teams for row in rule_rows(rules)]
    for row in rows:
        table.add_row(*row)
    locked = f"The rules of team {found['team']} are locked: they are changed from above only."
    said = [locked] if found["is_locked"] else []
    if not rows:
        return Group("No rules. `concertina rules set` adds some.", *said)
    return Group(table, *said)


def rule_rows(rules: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what each rule is about, and what it says."""
    for path, value in _leaves(rules.get("defaults") or {}):
        yield f"defaults.{path}", value if isinstance(value, str) else json.dumps(value)
    for name, bound in (rules.get("bounds") or {}).items():
        yield (
            f"bounds.{name}",
            ", ".join(f"at {side} {bound[side]}" for side in ("least", "most") if side in bound),
        )
    for name, rule in (rules.get("labels") or {}).items():
        yield f"labels.{name}", _label(rule)
    for part in ("pools", "modes"):
        if rules.get(part) is not None:
            yield part, ", ".join(rules[part])


def _label(rule: Mapping[str, Any]) -> str:
    if "values" in rule:
        return f"one of {', '.join(rule['values'])}"
    return f"like {rule['pattern']}" if "pattern" in rule else "any value"


def _leaves(part: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in part.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
