"""How does `--set elastic.max_workers=8` change a spec?"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_OF_TEXTS = ("env.", "labels.")


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a spec in which these fields have these values; None: not given."""
    spec: dict[str, Any] = {}
    for key, value in values.items():
        if value is not None:
            _assign(spec, key, value)
    return spec


def names_of(text: str | None) -> list[str] | None:
    """Return the names in a text such as `h100,a100`; None: not given."""
    if text is None:
        return None
    return [name for one in text.split(",") if (name := one.strip())]


def applied(spec: dict[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """A copy of `spec` with each `key=value` done in turn; values are YAML.

    Variables and labels are text, as in a shell: `env.LR=0.1` needs no quotes.

    Raises:
        BadInput: an assignment cannot be read, or leads through something that has no fields.
    """
    changed = copy.deepcopy(spec)
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator or not all(key.split(".")):
            raise BadInput(f"--set {assignment!r}: write key=value, like elastic.max_workers=8.")
        _assign(changed, key, _value(key, text, assignment))
    return changed


def _assign(spec: dict[str, Any], key: str, value: Any) -> None:
    *outer, last = key.split(".")
    target: Any = spec
    for part in outer:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise BadInput(f"--set {key}: {part!r} is {target!r} here, which has no fields.")
    target[last] = value


def _value(key: str, text: str, assignment: str) -> Any:
    from concertina.input.yaml_documents import value_of  # noqa: PLC0415 - it takes a while to load

    try:
        value = value_of(text) if text else ""
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--set {assignment!r}: the value is not valid YAML.") from error
    is_no_text = not (value is None or isinstance(value, str))
    return text if is_no_text and key.startswith(_OF_TEXTS) else value
