"""Which methods do the clients have for the operations of the API? Written from its description.

Both modules come from one list, so that neither client lacks what the other has.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

METHODS: Final = ("get", "post", "put", "patch", "delete")
PREFIX: Final = "/api/v1"
WIDTH: Final = 100
JSON: Final = "application/json"
CSV: Final = "text/csv"
EVENTS: Final = "text/event-stream"
BYTES: Final = "application/octet-stream"
NOT_GIVEN: Final = frozenset({"If-None-Match", "format", "follow"})
"""What only a browser's cache sends, and what each method sends as its kind of answer needs."""
_BETTER_NAMES: Final = {"range": "byte_range", "if_match": "version", "object": "object_name"}
Kind = Literal["answer", "nothing", "text", "file", "events"]

_HEAD: Final = '''\
"""Which operations does the API have{for_whom}?

Written by `make openapi` from docs/openapi.yaml.

A method is named as the operation is. Parameters of its address come first, then its body; others
are named. What takes an `idempotency_key` is done once, however often a connection breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from concertina.api.request import ApiRequest, as_version, one_key, segment

if TYPE_CHECKING:
    from collections.abc import {iterators}Mapping, Sequence
    from contextlib import {manager}
    from datetime import date, datetime

    from concertina.api.answers import {answers}
    from concertina.documents import {documents}
    from concertina.vocabulary import {words}


class {name}:
    """{told}"""

    def __init__(self, sender: {sender}) -> None:
        self._sender = sender
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """One of the two modules."""

    name: str
    told: str
    for_whom: str
    definition: str
    awaited: str
    sender: str
    response: str
    manager: str
    iterator: str


BLOCKING: Final = Flavour(
    name="BlockingApi",
    told="Each method returns when the answer is here.",
    for_whom="",
    definition="def",
    awaited="",
    sender="BlockingSender",
    response="StreamedResponse",
    manager="AbstractContextManager",
    iterator="Iterator",
)
ASYNCHRONOUS: Final = Flavour(
    name="AsyncApi",
    told="Each method is awaited; what is read piece by piece is an `async with`.",
    for_whom=", to be awaited",
    definition="async def",
    awaited="await ",
    sender="AsyncSender",
    response="AsyncStreamedResponse",
    manager="AbstractAsyncContextManager",
    iterator="AsyncIterator",
)
TypeOf = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMethod:
    """One way to ask for an operation, and to read its answer."""

    name: str
    operation: str
    kind: Kind
    verb: str
    path: str
    told: Sequence[str]
    described: Mapping[str, Any]
    answer: str
    fixed: Mapping[str, Any]  # parameters that go with this kind of answer


def methods(description: Mapping[str, Any], type_of: TypeOf) -> list[ClientMethod]:
    """Return all of them, by name."""
    found = [
        method
        for path, verbs in description["paths"].items()
        for verb, operation in verbs.items()
        if verb in METHODS
        for method in _of(path, verb, operation, type_of)
    ]
    return sorted(found, key=lambda method: method.name)


def _of(
    path: str, verb: str, operation: Mapping[str, Any], type_of: TypeOf
) -> Iterator[ClientMethod]:
    known = {one["name"] for one in operation.get("parameters", ())}
    contents: dict[str, Any] = {}
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            contents |= response.get("content", {})
    name = operation["operationId"]
    described: dict[str, Any] = {
        "verb": verb.upper(),
        "path": path.removeprefix(PREFIX),
        "described": operation,
        "operation": name,
        "told": _told(operation),
    }
    if not contents:
        yield ClientMethod(name=name, kind="nothing", answer="None", fixed={}, **described)
    for media, content in contents.items():
        if media == JSON:
            fixed = {"format": "json"} if "format" in known else {}
            answer = type_of(content["schema"])
            yield ClientMethod(name=name, kind="answer", answer=answer, fixed=fixed, **described)
        elif media == CSV:
            yield ClientMethod(
                name=f"{name}_as_csv",
                kind="text",
                answer="str",
                fixed={"format": "csv"},
                **described,
            )
        elif media == EVENTS:
            fixed = {"follow": "true"} if "follow" in known else {}
            follows = re.sub("^list_", "follow_", name)
            yield ClientMethod(name=follows, kind="events", answer="", fixed=fixed, **described)
        elif media == "text/html":
            yield ClientMethod(name=name, kind="text", answer="str", fixed={}, **described)
        else:
            yield ClientMethod(name=name, kind="file", answer="", fixed={}, **described)


def _told(operation: Mapping[str, Any]) -> Sequence[str]:
    """Return the summary as a sentence, then what more there is to say, both in short lines."""
    summary = operation.get("summary", operation["operationId"])
    lines = [f"{summary[0].upper()}{summary[1:].rstrip('.')}."]
    more = " ".join(operation.get("description", "").partition("\n\n")[0].split())
    return [*lines, *([more] if more and not more.startswith("* `") else [])]


def module(description: Mapping[str, Any], flavour: Flavour, type_of: TypeOf) -> str:
    """Return the source of one of the two modules."""
    schemas = description["components"]["schemas"]
    named = {tuple(schema["enum"]): name for name, schema in schemas.items() if "enum" in schema}

    def with_names(schema: Mapping[str, Any]) -> str:
        return named.get(tuple(schema.get("enum", ()))) or type_of(schema)

    parts = [_source(method, flavour, with_names) for method in methods(description, with_names)]
    body = "\n".join(parts)
    code = re.sub(r'"""(?s:.*?)"""', "", body)
    used = {name for name in schemas if re.search(rf"(?<![-\w]){name}(?![-\w])", code)}
    words = sorted(name for name in used if "enum" in schemas[name])
    head = _HEAD.format(
        name=flavour.name,
        told=flavour.told,
        for_whom=flavour.for_whom,
        iterators=f"{flavour.iterator}, ",
        manager=flavour.manager,
        sender=flavour.sender,
        answers=", ".join(sorted((flavour.sender, flavour.response, "ServerEvent"))),
        documents=", ".join(sorted(used - set(words))),
        words=", ".join(words),
    )
    return f"{head}\n{body}"


def _source(method: ClientMethod, flavour: Flavour, type_of: TypeOf) -> str:
    answer = {
        "file": f"{flavour.manager}[{flavour.response}]",
        "events": f"{flavour.manager}[{flavour.iterator}[ServerEvent]]",
    }.get(method.kind, method.answer)
    is_opened = method.kind in {"file", "events"}
    definition = "def" if is_opened else flavour.definition
    awaited = "" if is_opened else flavour.awaited
    lines = [
        f"    {definition} {method.name}({', '.join(_signature(method, type_of))}) -> {answer}:",
        *_docstring(method),
        f"        request = ApiRequest.of({', '.join(_arguments(method))})",
    ]
    sent = "answer" if method.kind == "nothing" else method.kind
    call = f"{awaited}self._sender.{sent}(request)"
    if method.kind == "answer":
        lines.append(f"        return cast({answer!r}, {call})")
    else:
        lines.append(f"        {call}" if method.kind == "nothing" else f"        return {call}")
    return "\n".join(lines) + "\n"


def _docstring(method: ClientMethod) -> Iterator[str]:
    indent = " " * 8
    wrapped = [textwrap.wrap(part, WIDTH - len(indent) - 4) for part in method.told]
    safe = [[line.replace("\\", "\\\\") for line in part] for part in wrapped]
    (first, *rest), *more = safe
    if not rest and not more:
        yield f'{indent}"""{first}"""'
        return
    yield f'{indent}"""{first}'
    yield from (f"{indent}{line}" for line in rest)
    for part in more:
        yield ""
        yield from (f"{indent}{line}" for line in part)
    yield f'{indent}"""'


def _parameters(method: ClientMethod, place: str) -> Iterator[Mapping[str, Any]]:
    for one in method.described.get("parameters", ()):
        if one["in"] == place and one["name"] not in NOT_GIVEN:
            yield one


def _signature(method: ClientMethod, type_of: TypeOf) -> Iterator[str]:
    yield "self"
    for name in re.findall(r"\{(\w+)\}", method.path):
        (described,) = (one for one in _parameters(method, "path") if one["name"] == name)
        kind = {"since": "date | str", "step": "int | str"}.get(name, type_of(described["schema"]))
        yield f"{name}: {kind}"
    body = method.described.get("requestBody")
    if body:
        if BYTES in body["content"]:
            yield "content: bytes"
        else:
            kind = _body_type(body["content"][JSON]["schema"], type_of)
            yield f"body: {kind}{'' if _needs_body(method) else ' | None = None'}"
    named = [*_parameters(method, "query"), *_parameters(method, "header")]
    if named:
        yield "*"
    for one in sorted(named, key=lambda one: (not one.get("required"), named.index(one))):
        kind = _argument_type(one, type_of)
        yield f"{_argument(one)}: {kind}{'' if one.get('required') else ' | None = None'}"


def _needs_body(method: ClientMethod) -> bool:
    """False for those that say why something is done, or change what is done by default."""
    schema = method.described["requestBody"]["content"][JSON]["schema"]
    name = schema.get("$ref", "").rpartition("/")[2]
    may_be_left_out = name in {"ReasonBody", "RotationBody"} or method.operation == "rerun_job"
    return not may_be_left_out


def _body_type(schema: Mapping[str, Any], type_of: TypeOf) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    # These are answered as they are sent, with fields that the service fills in.
    if not name or name in {"Bulk", "ImageRule", "PrefetchedImage"}:
        return "Mapping[str, Any]"
    return type_of(schema)


def _argument(described: Mapping[str, Any]) -> str:
    name = str(described["name"]).lower().replace("-", "_")
    return _BETTER_NAMES.get(name, name)


def _argument_type(described: Mapping[str, Any], type_of: TypeOf) -> str:
    schema = described["schema"]
    if described["name"] == "If-Match":
        return "str | int"
    if schema.get("format") == "date-time":
        return "datetime | str"
    if schema.get("type") == "array":
        return f"Sequence[{type_of(schema['items'])}]"
    return " | ".join(dict.fromkeys(type_of(schema).split(" | ")))


def _arguments(method: ClientMethod) -> Iterator[str]:
    yield f'"{method.verb}"'
    path = re.sub(r"\{(\w+)\}", r"{segment(\1)}", method.path)
    yield f'f"{path}"' if path != method.path else f'"{path}"'
    params = [f'"{one["name"]}": {_argument(one)}' for one in _parameters(method, "query")]
    params += [f'"{name}": "{value}"' for name, value in method.fixed.items()]
    if params:
        yield f"params={{{', '.join(params)}}}"
    headers = [f'"{one["name"]}": {_as_header(one)}' for one in _parameters(method, "header")]
    body = method.described.get("requestBody")
    if body and BYTES in body["content"]:
        headers.append(f'"Content-Type": "{BYTES}"')
    if headers:
        yield f"headers={{{', '.join(headers)}}}"
    if body:
        yield "content=content" if BYTES in body["content"] else "body=body"


def _as_header(described: Mapping[str, Any]) -> str:
    name = _argument(described)
    wrapped = {"idempotency_key": "one_key", "version": "as_version"}.get(name)
    return f"{wrapped}({name})" if wrapped else name
