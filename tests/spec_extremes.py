"""Which specs lie at the edges of what admission accepts? Drawn from the pydantic models.

A field that is added to the spec is covered without a change here, and a number in it that lacks a
bound fails the tests that draw from here.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, PlainValidator
from pydantic.fields import FieldInfo

from jobs.errors import SpecInvalid
from jobs.spec.job_spec import JobSpec, SpecPart, parse
from jobs.spec.quantities import LARGEST_SIZE, Duration, format_duration, parse_size

Draws = st.SearchStrategy[Any]

# Not numbers, and decided on by the cluster a job is submitted to.
_ELSEWHERE = frozenset({"name", "command", "team", "pool", "image"})
_MOMENTS = ("2026-12-31T00:00:00Z", "2999-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
_SIZES = ("1B", "1KiB", "1GiB", f"{LARGEST_SIZE // 2**40}TiB")
_TEXTS = ("a", "x" * 80)


def documents() -> Draws:
    """What admission accepts of drawn documents, as a user would send them."""
    return _part(JobSpec).map(_accepted).filter(lambda document: document is not None)


def fields(model: type[BaseModel] = JobSpec, path: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every field of the spec and of its parts, by its dotted name."""
    for name, field in model.model_fields.items():
        for inner in _leaves(field.annotation):
            if isinstance(inner, type) and issubclass(inner, SpecPart):
                yield from fields(inner, f"{path}{name}.")
        yield f"{path}{name}", field


def drawn(field: FieldInfo) -> Draws:
    """Values of one field, most of them at its bounds.

    Raises:
        AssertionError: it takes a number that lacks a bound.
    """
    return _of(field.annotation, tuple(field.metadata))


def _accepted(document: dict[str, Any]) -> dict[str, Any] | None:
    """The document without the fields that admission objects to; None if nothing helps."""
    document = {"name": "extreme", "command": ["true"], **document}
    for _ in range(20):
        try:
            parse(document)
        except SpecInvalid as refused:
            for problem in refused.problems:
                _remove(document, problem.field.partition("[")[0].split("."))
        else:
            return document
    return None


def _remove(document: dict[str, Any], path: list[str]) -> None:
    inner: Any = document
    for name in path[:-1]:
        if not isinstance(inner, dict) or name not in inner:
            return
        if not isinstance(inner[name], dict):
            break
        inner = inner[name]
    for name in reversed(path):
        if isinstance(inner, dict) and name in inner and name not in {"name", "command"}:
            del inner[name]
            return


def _part(model: type[BaseModel]) -> Draws:
    known = {name: field for name, field in model.model_fields.items() if name not in _ELSEWHERE}
    must = {name: drawn(field) for name, field in known.items() if field.is_required()}
    may = {name: drawn(field) for name, field in known.items() if not field.is_required()}
    return st.fixed_dictionaries(must, optional=may)


def _of(annotation: Any, metadata: tuple[Any, ...]) -> Draws:
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _of(inner, (*more, *metadata))
    special = _special(metadata)
    if special is not None:
        return special
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, types.UnionType}:
        return st.one_of([_of(one, metadata) for one in arguments])
    if choices := _choices(annotation):
        return st.sampled_from(choices)
    if origin in {list, dict}:
        inner = _of(arguments[-1], ())
        few = st.lists(inner, min_size=1, max_size=4)
        return few if origin is list else st.dictionaries(st.sampled_from("ab"), inner)
    return _plain(annotation, metadata)


def _choices(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    is_enum = isinstance(annotation, type) and issubclass(annotation, StrEnum)
    return tuple(one.value for one in annotation) if is_enum else ()


def _plain(annotation: Any, metadata: tuple[Any, ...]) -> Draws:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _part(annotation)
    if annotation is type(None):
        return st.none()
    if annotation is datetime:
        return st.sampled_from(_MOMENTS)
    if annotation is bool:
        return st.booleans()
    if annotation is str:
        return st.sampled_from(_TEXTS)
    assert annotation in {int, float}, f"no values are known for {annotation}"
    return _between(annotation, *_bounds(metadata))


def _bounds(metadata: tuple[Any, ...]) -> tuple[Any, Any]:
    low = next((one.ge for one in _flat(metadata) if isinstance(one, Ge)), None)
    high = next((one.le for one in _flat(metadata) if isinstance(one, Le)), None)
    assert low is not None, "a number without a lower bound"
    assert high is not None, "a number without an upper bound"
    return low, high


def _between(kind: Any, low: Any, high: Any) -> Draws:
    if kind is float:
        return st.sampled_from([float(low), float(high)]) | st.floats(low, high)
    few = [low, min(low + 1, high), min(7, high), max(high - 1, low), high]
    return st.sampled_from(sorted({max(one, low) for one in few})) | st.integers(low, high)


def _special(metadata: tuple[Any, ...]) -> Draws | None:
    """Values of fields that are written as text, or that a validator of their own reads."""
    for one in metadata:
        if isinstance(one, Duration):
            low, high = one.at_least, one.at_most
            return st.sampled_from([low, min(low + 0.001, high), high]).map(format_duration)
        if isinstance(one, BeforeValidator) and one.func is parse_size:
            return st.sampled_from(_SIZES)
        if isinstance(one, PlainValidator):
            return _of(one.json_schema_input_type, ())
    return None


def _leaves(annotation: Any) -> Iterator[Any]:
    yield from (leaf for one in get_args(annotation) for leaf in _leaves(one))
    yield annotation


def _flat(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for one in metadata:
        yield from one.metadata if isinstance(one, FieldInfo) else (one,)
