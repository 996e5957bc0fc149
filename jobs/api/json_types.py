"""Is each value of a body of the type that the API's description says? `"5"` is no number here.

REST framework's fields are made for forms, where everything is text, and convert types silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rest_framework import serializers

_TYPES: Final = (
    (serializers.BooleanField, (bool,), "Use true or false."),
    (serializers.IntegerField, (int,), "Use a whole number, without quotes."),
    (serializers.FloatField, (int, float), "Use a number, without quotes."),
    (serializers.CharField, (str,), "Use text; put it in quotes."),
)


def check(form: serializers.BaseSerializer[Any]) -> None:
    """Check what a form was given; values of no JSON type are left to the form.

    Raises:
        ValidationError: names the fields and what to use.
    """
    found = dict(_wrong(form, getattr(form, "initial_data", None), ""))
    if found:
        raise serializers.ValidationError(found)


def _wrong(field: Any, value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, one in value.items():
            inner = _inside(field, name)
            if inner is not None and not inner.read_only:
                yield from _wrong(inner, one, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _wrong(getattr(field, "child", None), one, f"{place}.{index}")
    elif value is not None:
        for kind, types, remedy in _TYPES:
            if isinstance(field, kind):
                if not _is_one_of(value, types):
                    yield place, remedy
                return


def _inside(field: Any, name: str) -> Any:
    """Return the field for a name of a mapping; None if there is none, or any value is allowed."""
    if isinstance(field, serializers.DictField):
        return field.child
    return field.fields.get(name) if isinstance(field, serializers.Serializer) else None


def _is_one_of(value: object, types: tuple[type, ...]) -> bool:
    """Compare as JSON schemas do: true is not a number, and 2.0 is a whole number."""
    if isinstance(value, bool):
        return bool in types
    if isinstance(value, float) and value.is_integer() and int in types:
        return True
    return isinstance(value, types)
