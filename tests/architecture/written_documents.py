"""What does the client know of the service's documents? Types, written from the API's description.

`make openapi` writes all of these modules; a test holds them to `docs/openapi.yaml`.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tests.architecture import written_operations

ROOT: Final = Path(__file__).parents[2]
RUFF: Final = Path(sys.executable).parent / "ruff"
EXTENDS: Final = {
    "JobDetail": "Job",
    "ModelVersionDetail": "ModelVersion",
    "ScheduleDetail": "Schedule",
    "SteeredArray": "JobArray",
    "SubmittedJob": "JobDetail",
    "SweepDetail": "Sweep",
    "TeamDetail": "Team",
    "MadePersonalToken": "PersonalToken",
    "MadeToken": "Token",
    "MadeWebhook": "Webhook",
    "FoundRemedy": "Remedy",
}
WIDTH: Final = 100
_REFERENCE: Final = "#/components/schemas/"
_PLAIN: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
_WORDS: Final = '''\
"""Which words do the service's documents use? Written by `make openapi` from docs/openapi.yaml.

A service of another release may use others; nothing here is checked at run time.
"""

from __future__ import annotations

from typing import Literal

'''
_DOCUMENTS: Final = '''\
"""Which documents does the service answer with? Written by `make openapi` from docs/openapi.yaml.

A service of another release may leave out fields or add some; nothing here is checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from concertina.vocabulary import {words}

'''

Schemas = Mapping[str, Mapping[str, Any]]


@functools.cache
def written() -> Mapping[Path, str]:
    """Each file with what should stand in it."""
    text = (ROOT / "docs/openapi.yaml").read_text()
    description = yaml.load(text, Loader=yaml.CSafeLoader)
    schemas: Schemas = description["components"]["schemas"]
    names = sorted(_reached(schemas, _references(description["paths"])))
    enums = [name for name in names if "enum" in schemas[name]]
    words = sorted(enums, key=str.lower)  # as ruff sorts what is imported
    unions = [name for name in names if "oneOf" in schemas[name]]
    classes = _bases_first([name for name in names if "properties" in schemas[name]])
    assert len(words) + len(unions) + len(classes) == len(names)
    documents = _DOCUMENTS.format(words=", ".join(words))
    parts = [
        *(_class(name, schemas) for name in classes),
        *(f"{name} = {_type(schemas[name])}\n" for name in unions),
    ]
    literals = "".join(f"{name} = {_literal(schemas[name]['enum'])}\n" for name in words)
    return {
        ROOT / "client/concertina/vocabulary.py": _formatted(_WORDS + literals),
        ROOT / "client/concertina/documents.py": _formatted(documents + "\n\n".join(parts)),
        **{
            ROOT / f"client/concertina/api/{name}.py": _formatted(
                written_operations.module(description, flavour, _type)
            )
            for name, flavour in (
                ("blocking", written_operations.BLOCKING),
                ("asynchronous", written_operations.ASYNCHRONOUS),
            )
        },
    }


def _reached(schemas: Schemas, names: Iterable[str]) -> set[str]:
    """These, and all that they refer to."""
    found: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += _references(schemas[name])
    return found


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            where, _, name = part["$ref"].rpartition("/")
            if where + "/" == _REFERENCE:
                yield name
        for name, one in part.items():
            if name != "discriminator":
                yield from _references(one)
    elif isinstance(part, list):
        for one in part:
            yield from _references(one)


def _bases_first(names: Iterable[str]) -> list[str]:
    def depth(name: str) -> int:
        return 1 + depth(EXTENDS[name]) if name in EXTENDS else 0

    return sorted(names, key=lambda name: (depth(name), name))


def _class(name: str, schemas: Schemas) -> str:
    schema = schemas[name]
    base = EXTENDS.get(name)
    known = schemas[base]["properties"] if base else {}
    assert known.keys() <= schema["properties"].keys(), f"{name} does not extend {base}"
    told = _first_paragraph(schema.get("description", "")) or f"A document of the API: {name}."
    lines = [f"class {name}({base or 'TypedDict'}):", f'    """{told}"""', ""]
    for field, described in schema["properties"].items():
        if field not in known:
            lines += _field(field, described, is_required=field in schema.get("required", ()))
    return "\n".join(lines) + "\n"


def _field(name: str, described: Mapping[str, Any], *, is_required: bool) -> list[str]:
    kind = _type(described)
    line = f"    {name}: {kind if is_required else f'NotRequired[{kind}]'}"
    comment = _first_paragraph(described.get("description", ""))
    if not comment:
        return [line]
    if len(line) + len(comment) + len("  # ") <= WIDTH:
        return [f"{line}  # {comment}"]
    return [*(f"    # {part}" for part in textwrap.wrap(comment, WIDTH - len("    # "))), line]


def _first_paragraph(text: str) -> str:
    """Without the list of words that may follow it, or stand alone."""
    first = " ".join(text.partition("\n\n")[0].split())
    return "" if first.startswith("* `") else first


def _type(described: Mapping[str, Any]) -> str:
    if "$ref" in described:
        return str(described["$ref"].removeprefix(_REFERENCE))
    if "const" in described:
        return _literal([described["const"]])
    if "enum" in described:
        return _literal(described["enum"])
    for alternatives in ("allOf", "oneOf", "anyOf"):
        if alternatives in described:
            return _union(_type(one) for one in described[alternatives])
    kinds = described.get("type", "any")
    several = [kinds] if isinstance(kinds, str) else kinds
    return _union(_of(kind, described) for kind in several)


def _union(kinds: Iterable[str]) -> str:
    """Each kind once, however often a part of the union has it."""
    return " | ".join(dict.fromkeys(part for kind in kinds for part in _parts(kind)))


def _parts(kind: str) -> list[str]:
    if "[" not in kind:
        return kind.split(" | ")
    alone = kind.removesuffix(" | None")
    return [kind] if alone == kind else [alone, "None"]


def _of(kind: str, described: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"list[{_type(described.get('items', {}))}]"
    if kind == "object":
        values = described.get("additionalProperties", {})
        return f"dict[str, {_type({} if isinstance(values, bool) else values)}]"
    return _PLAIN.get(kind, "Any")


def _literal(values: Iterable[Any]) -> str:
    return f"Literal[{', '.join(map(repr, values))}]"


def _formatted(source: str) -> str:
    """As `ruff` wants it."""
    command = (str(RUFF), "format", "--stdin-filename", "client/concertina/documents.py", "-")
    run = subprocess.run(
        command, input=source, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    return run.stdout


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
