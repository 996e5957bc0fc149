"""The hyperparameters and the searcher of an experiment of Determined: values, or an array."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from concertina.conversion.converted import Converted
from concertina.conversion.documents import listed, mapping, whole

_MOST_JOBS: Final = 1000  # of an array here


def put_search(document: Mapping[str, Any], found: Converted) -> Mapping[str, str]:
    """Set what is trained how often; return each hyperparameter as an environment has it."""
    searcher = mapping(document, "searcher")
    flat = _told_apart(_flat(mapping(document, "hyperparameters")), found)
    _tell_of_length(searcher, found)
    name = str(searcher.get("name", "single"))
    if "metric" in searcher:
        goal = "min" if searcher.get("smaller_is_better", True) else "max"
        found.put("checkpoint.keep_best", {"metric": str(searcher["metric"]), "goal": goal})
    searched = {key: value for key, value in flat.items() if isinstance(value, Mapping)}
    values = {key: value for key, value in flat.items() if key not in searched}
    grid = {key: _grid(one) for key, one in searched.items()}
    for key, one in searched.items():
        if one.get("type") == "const":
            values[key] = one.get("val")
            del grid[key]
    if not grid:
        return _as_variables(values)
    size = math.prod(len(points) for points in grid.values())
    if name != "grid" or not 0 < size <= _MOST_JOBS:
        for key, points in grid.items():
            values[key] = points[0] if points else _lowest(searched[key])
        found.left_out(
            f"searcher {name}",
            "The first or least value of each hyperparameter is set. An `array` trains all"
            f" combinations of values that it lists, at most {_MOST_JOBS}.",
        )
        return _as_variables(values)
    parameters = {_parameter(key): points for key, points in grid.items()}
    found.put("array.parameters", parameters)
    if at_once := whole(searcher.get("max_concurrent_trials")):
        found.put("array.max_running", at_once)
    found.changed("searcher grid", f"An array of {size} jobs, one for each combination.")
    placed = {key: f"{{{{{_parameter(key)}}}}}" for key in grid}
    return {**_as_variables(values), **_as_variables(placed)}


def _tell_of_length(searcher: Mapping[str, Any], found: Converted) -> None:
    for field in ("max_length", "max_time"):
        if field in searcher:
            why = "How long it trains is the script's to say; `max_duration` bounds it."
            found.left_out(f"searcher.{field}", why)


def _told_apart(flat: Mapping[str, Any], found: Converted) -> dict[str, Any]:
    """Return all but those whose variable one before them has."""
    first: dict[str, str] = {}
    apart = {
        key: value for key, value in flat.items() if first.setdefault(_variable(key), key) == key
    }
    for key in flat:
        if key not in apart:
            found.left_out(f"hyperparameter {key}", "Another has the same variable: rename one.")
    return apart


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested hyperparameters by their whole names; a search space is one."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        whole = f"{above}{name}"
        if isinstance(value, Mapping) and "type" not in value:
            found |= _flat(value, f"{whole}.")
        else:
            found[whole] = value
    return found


def _grid(space: Mapping[str, Any]) -> Sequence[Any]:
    """Return the points at which Determined's grid tries a hyperparameter; none: it has none."""
    kind = space.get("type")
    if kind == "categorical":
        return [_plain(value) for value in listed(space, "vals")]
    if kind not in ("int", "double", "log"):
        return [_plain(space["val"])] if "val" in space else []
    count = space.get("count")
    low, high = _number(space.get("minval")), _number(space.get("maxval"))
    if not isinstance(count, int) or not 0 < count <= _MOST_JOBS or low is None or high is None:
        return []
    steps = [low] if count == 1 else [low + (high - low) * i / (count - 1) for i in range(count)]
    if kind == "int":
        return [*dict.fromkeys(round(step) for step in steps)]
    base = _number(space.get("base")) or 10.0
    return [base**step for step in steps] if kind == "log" else steps


def _lowest(space: Mapping[str, Any]) -> Any:
    """Return where a range without a count begins; an empty text: it is none."""
    if (low := _number(space.get("minval"))) is None:
        return ""
    if space.get("type") == "log":
        try:
            return (_number(space.get("base")) or 10.0) ** low
        except OverflowError:
            return ""
    return round(low) if space.get("type") == "int" else low


def _parameter(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)


def _variable(name: str) -> str:
    return f"HPARAM_{_parameter(name).upper()}"


def _as_variables(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        _variable(name): value if isinstance(value, str) else _text(value)
        for name, value in values.items()
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else str(value)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None
