"""How does a job become a document? By the one serializer of its kind, which is made once.

To make one takes longer than to use it: it looks at each field of the model. It keeps nothing of
what it represents, so all requests share it.

To use one takes longer than what it does: for each value it asks again where it stands, and whether
it is one. Where a field is known to be a column, or what a method says, that was found out before;
the fields themselves still say how a value is written.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from rest_framework.fields import SkipField
from rest_framework.serializers import (
    BaseSerializer,
    Field,
    ListSerializer,
    ModelSerializer,
    Serializer,
    SerializerMethodField,
)

Represent = Callable[[Any], Any]

_made: Final[dict[type[BaseSerializer[Any]], Represent]] = {}


def represented(by: type[BaseSerializer[Any]], value: object) -> Any:
    """Return the document that an answer contains, as the serializer itself would make it."""
    if by not in _made:
        _made[by] = _of(by())
    return _made[by](value)


def _of(field: Any) -> Represent:
    """Return what represents a value that is there, as `to_representation` does."""
    if isinstance(field, ListSerializer) and field.child is not None:
        one = _of(field.child)
        return lambda values: [one(value) for value in values]
    if type(field).to_representation is not Serializer.to_representation:
        represent: Represent = field.to_representation
        return represent
    columns = _columns_of(field)
    parts = [(part.field_name, _value(part, columns)) for part in field._readable_fields]  # noqa: SLF001

    def document(instance: Any) -> dict[str, Any]:
        values = {}
        for name, value in parts:
            try:
                values[name] = value(instance)
            except SkipField:
                continue
        return values

    return document


def _columns_of(serializer: Any) -> frozenset[str]:
    model: Any = serializer.Meta.model if isinstance(serializer, ModelSerializer) else None
    fields = model._meta.concrete_fields if model else ()  # noqa: SLF001 - Django's own word
    return frozenset(one.name for one in fields if not one.is_relation)


def _value(field: Field[Any, Any, Any, Any], columns: frozenset[str]) -> Represent:
    if isinstance(field, SerializerMethodField):
        method: Represent = getattr(field.parent, field.method_name)
        return method
    represent = _of(field)
    source = field.source or ""
    is_column = source in columns and type(field).get_attribute is Field.get_attribute
    get: Represent = attrgetter(source) if is_column else field.get_attribute

    def value(instance: Any) -> Any:
        found = get(instance)
        return None if found is None else represent(found)

    return value
