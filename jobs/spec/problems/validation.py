"""What is wrong with a job spec, and what would be right? Every problem says both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from jobs.errors import Problem
from jobs.spec.problems.near_fields import nearest


def from_validation(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Translate pydantic's errors into people's words."""
    return [_translate(item, model) for item in error.errors(include_url=False)]


_REMEDY_BY_TYPE: Final = {
    "missing": ("is missing", "Add it."),
    "int_type": ("is not a whole number", "Use a number such as 4, without quotes."),
    "int_parsing": ("is not a whole number", "Use a number such as 4, without quotes."),
    "int_from_float": ("is not a whole number", "Use a number without a fraction."),
    "float_type": ("is not a number", "Use a number such as 1.5, without quotes."),
    "float_parsing": ("is not a number", "Use a number such as 1.5, without quotes."),
    "finite_number": ("is not a finite number", "Use an ordinary number."),
    "string_type": ("is not text", "Put it in quotes."),
    "bool_type": ("is neither true nor false", "Use true or false."),
    "bool_parsing": ("is neither true nor false", "Use true or false."),
    "list_type": ("is not a list", 'Write a list, such as ["python", "train.py"].'),
    "tuple_type": ("is not a list", 'Write a list, such as ["python", "train.py"].'),
    "dict_type": ("is not a mapping", "Write names with their values."),
    "model_type": ("is not a mapping", "Write fields with their values."),
    "model_attributes_type": ("is not a mapping", "Write fields with their values."),
}


def _translate(item: Mapping[str, Any], model: type[BaseModel]) -> Problem:
    kind = str(item["type"])
    location: Sequence[int | str] = item["loc"]
    context: Mapping[str, Any] = item.get("ctx", {})
    value = None if kind == "missing" else _shown(item.get("input"))
    problem, remedy = _words(kind, context, str(item["msg"]), location, model)
    return Problem(field=dotted(location), value=value, problem=problem, remedy=remedy)


def _words(
    kind: str,
    context: Mapping[str, Any],
    text: str,
    location: Sequence[int | str],
    model: type[BaseModel],
) -> tuple[str, str]:
    if kind in _REMEDY_BY_TYPE:
        return _REMEDY_BY_TYPE[kind]
    if kind == "extra_forbidden":
        return "is not a field of a job spec", _closest(location, model)
    if kind == "value_error":  # raised by our own validators: "problem | remedy"
        problem, _, remedy = str(context.get("error", text)).partition(" | ")
        return problem, remedy
    if kind in {"literal_error", "enum"}:
        return "is none of the allowed words", f"Use {context['expected']}."
    return _bound(kind, context) or (text[:1].lower() + text[1:], "Correct it.")


def _bound(kind: str, context: Mapping[str, Any]) -> tuple[str, str] | None:
    match kind:
        case "greater_than_equal":
            return f"is below {context['ge']}", f"Use at least {context['ge']}."
        case "less_than_equal":
            return f"is above {context['le']}", f"Use at most {context['le']}."
        case "too_short":
            return "is empty", f"Give at least {context['min_length']} entry."
        case "too_long" | "string_too_long":
            return "is too long", f"Use at most {context['max_length']}."
        case "string_too_short":
            return "is empty", "Write something."
    return None


def _closest(location: Sequence[int | str], model: type[BaseModel]) -> str:
    """Name the known field that was most likely meant, or all that are known there."""
    near = nearest(location, model)
    if near:
        return f"Did you mean {dotted(near)}?"
    return f"Remove it. Known here: {', '.join(_fields_at(location[:-1], model))}."


def _fields_at(path: Iterable[int | str], model: type[BaseModel]) -> list[str]:
    for name in path:
        inner = model.model_fields[str(name)].annotation if name in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            break
        model = inner
    return list(model.model_fields)


def dotted(location: Iterable[int | str]) -> str:
    """Write a path as people do: `elastic.allowed_workers[2]`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _shown(value: object, longest: int = 200) -> Any:
    """Return the value as sent if it is small and JSON, else a shortened text of it."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError):
        text = ascii(value)
        value = text
    return value if len(text) <= longest else text[: longest - 1] + "…"
