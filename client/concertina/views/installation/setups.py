"""How does one see what would change of a set-up, and what is wrong with a file of it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from concertina.documents import Problem, SetupChange, SetupObject, SetupOutcome

_BEFORE: Final = "setup."  # before places in the body of a request
_SIGNS: Final = {"created": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}
_VERBS: Final = {
    True: ("created", "changed", "removed"),
    False: ("to create", "to change", "to remove"),
}


def outcome_text(outcome: SetupOutcome, *, is_done: bool) -> Text:
    """Return what changes, object by object, with what a field was and what it is."""
    text = Text()
    for change in outcome["changes"]:
        sign, style = _SIGNS[change["action"]]
        text.append(f"{sign} {_named(change)}\n", style=style)
        for line in _field_lines(change):
            text.append(f"    {line}\n")
    if outcome["kept"]:
        kept = ", ".join(map(_named, outcome["kept"]))
        text.append(f"Not in the file, and kept without --prune: {kept}\n", style="bright_black")
    if not outcome["changes"]:
        return text.append("Nothing to change.")
    counts = [sum(one["action"] == action for one in outcome["changes"]) for action in _SIGNS]
    words = zip(counts, _VERBS[is_done], strict=True)
    return text.append(", ".join(f"{count} {verb}" for count, verb in words) + ".", style="bold")


def faults_text(faults: Iterable[Problem], place_of: Callable[[str], str]) -> Text:
    """Return a line for each fault: where it stands, what is wrong, what to do."""
    text = Text()
    for fault in faults:
        path = fault["field"].removeprefix(_BEFORE)
        place = place_of(path)
        text.append(f"  {path or 'the file'}", style="bold")
        text.append(f" ({place})" if place else "", style="bright_black")
        text.append(f": {fault['problem'].rstrip('.')}. {fault['remedy']}\n")
    text.rstrip()
    return text


def _named(one: SetupObject | SetupChange) -> str:
    kind, of, name = one["kind"], one["of"], one["name"]
    match kind:
        case "quota":
            return f"quota of team {of} in pool {name}"
        case "image rule":
            return f"image rule {name} of {f'team {of}' if of else 'everybody'}"
        case "prefetched image":
            return f"prefetched image {name or 'of workers'} of pool {of}"
        case _:
            return f"{kind} {name}"


def _field_lines(change: SetupChange) -> Iterator[str]:
    for one in change["fields_changed"]:
        before, after = _value(one["before"]), _value(one["after"])
        match change["action"]:
            case "changed":
                yield f"{one['field']}: {before} → {after}"
            case "created":
                yield f"{one['field']}: {after}"
            case _:
                continue  # its name says enough


def _value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_one_line = isinstance(value, str) and value and value.isprintable()
    return value if is_one_line else json.dumps(value, ensure_ascii=False)
