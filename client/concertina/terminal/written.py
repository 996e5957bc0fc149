"""How is a result written for programs? As JSON, YAML or CSV, none of which steers a terminal."""

from __future__ import annotations

import csv
import io
import json
from enum import StrEnum
from typing import Any, Final

from concertina.errors import BadInput
from concertina.terminal.harmless import json_text, plain

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would calculate


class Format(StrEnum):
    """How a command answers: for people or for programs."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


def as_json(document: Any, *, indent: int | None = 2, is_ascii: bool = False) -> str:
    return json_text(json.dumps(document, indent=indent, ensure_ascii=is_ascii)) + "\n"


def as_yaml(document: Any, *, is_ascii: bool = False) -> str:
    """The fields in the order in which the service has them."""
    import yaml  # noqa: PLC0415 - few ask for it, and it takes a while to load

    written: str = yaml.safe_dump(
        document, sort_keys=False, allow_unicode=not is_ascii, default_flow_style=False
    )
    return plain(written)


def as_csv(document: Any) -> str:
    """A line for each document of a list, a column for each of their fields; inner ones as JSON.

    Raises:
        BadInput: it is no list.
    """
    if not isinstance(document, list):
        raise BadInput("-o csv writes lists, and this is none. Use -o json or -o yaml.")
    names = list(dict.fromkeys(name for row in document for name in row))
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(names)
    lines.writerows([_cell(row.get(name)) for name in names] for row in document)
    return written.getvalue() if names else ""


def _cell(value: Any) -> Any:
    match value:
        case bool():
            return str(value).lower()
        case int() | float() | None:
            return value
        case str():
            text = plain(value)
            return f"'{text}" if text.startswith(_FORMULA) else text
        case _:
            return plain(json.dumps(value))
