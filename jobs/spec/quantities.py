"""How are durations and sizes written in a job spec? They have a unit: `90s`, `5m`, `64GiB`.

In Python a duration is a float of seconds and a size an int of bytes; in JSON both have a
unit again, the largest one that divides them. Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

SECONDS_BY_UNIT: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
BYTES_BY_UNIT: Final = {
    "B": 1.0,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
LARGEST_SIZE: Final = 2**50  # more than any machine has, and a number that kernels can hold
_QUANTITY: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([A-Za-z]{1,3})")


def _pattern(units: str) -> str:
    """Return the pattern of what is written, for the description of a spec."""
    return rf"^\s*[0-9]{{1,12}}(\.[0-9]{{1,6}})? ?({units})\s*$"


def parse_duration(value: object) -> float:
    """Return the seconds of `30s`, `5m`, `2h`, `1d`, `500ms`.

    Raises:
        ValueError: not a duration with its unit.
    """
    seconds = _parse(value, SECONDS_BY_UNIT)
    if seconds is None:
        raise ValueError('is not a duration | Write it with its unit: "30s", "5m" or "2h".')
    return seconds


def parse_size(value: object) -> int:
    """Return the bytes of `64GiB`, `500MB`.

    Raises:
        ValueError: not a size with its unit, or nothing.
        PydanticCustomError: more than `LARGEST_SIZE`.
    """
    size = _parse(value, BYTES_BY_UNIT)
    if size is None or size < 1:
        raise ValueError('is not a size | Write it with its unit: "64GiB" or "500MB".')
    if size > LARGEST_SIZE:
        raise PydanticCustomError(
            "less_than_equal", "is too large", {"le": format_size(LARGEST_SIZE)}
        )
    return int(size)


def format_duration(seconds: float) -> str:
    for unit in ("d", "h", "m"):
        if seconds and seconds % SECONDS_BY_UNIT[unit] == 0:
            return f"{seconds / SECONDS_BY_UNIT[unit]:.0f}{unit}"
    return f"{seconds:g}s"


def format_size(size: int) -> str:
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size and size % BYTES_BY_UNIT[unit] == 0:
            return f"{size / BYTES_BY_UNIT[unit]:.0f}{unit}"
    return f"{size}B"


def size_in_words(size: int) -> str:
    """Write a size as people read it: `61.3 GiB`."""
    for unit in ("TiB", "GiB", "MiB"):
        if size >= BYTES_BY_UNIT[unit]:
            return f"{size / BYTES_BY_UNIT[unit]:.1f} {unit}"
    return f"{size >> 10} KiB"


def _parse(value: object, factors: dict[str, float]) -> float | None:
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in factors:
        return None
    return float(match[1]) * factors[match[2]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """Marks a float field as a duration: `Annotated[float, Duration(at_most=3600)]`."""

    at_least: float = 0.0
    at_most: float

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            json_schema_input_schema=core_schema.str_schema(pattern=_pattern("ms|s|m|h|d")),
            serialization=core_schema.plain_serializer_function_ser_schema(
                format_duration, return_schema=core_schema.str_schema(), when_used="json"
            ),
        )

    def _validate(self, value: object) -> float:
        seconds = parse_duration(value)
        if seconds < self.at_least:
            raise ValueError(f"is too short | Use at least {format_duration(self.at_least)}.")
        if seconds > self.at_most:
            raise ValueError(f"is too long | Use at most {format_duration(self.at_most)}.")
        return seconds


Bytes = Annotated[
    int,
    BeforeValidator(
        parse_size, json_schema_input_type=Annotated[str, Field(pattern=_pattern("B|[KMGT]i?B"))]
    ),
    PlainSerializer(format_size, return_type=str, when_used="json"),
]
