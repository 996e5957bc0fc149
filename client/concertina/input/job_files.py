"""What does a job file say, and on which line does it say it?

YAML, of which JSON is a part. Every value's line is kept, so that a refusal of the service can
point into the file. A key that stands twice is an error here: YAML would silently take the last.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from concertina.errors import BadInput

STDIN: Final = "-"
_LAST_PART: Final = re.compile(r"(^[^.\[]+|\.[^.\[]*|\[\d+\])$")  # of "elastic.allowed_workers[2]"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A job spec, or a document with many, with the place of each field."""

    name: str  # for messages
    spec: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict)  # "elastic.min_workers" -> 12

    def place(self, path: str) -> str:
        """Return `job.yaml:12`, say, for a field or the nearest part around it, or nothing."""
        while path:
            if path in self.lines:
                return f"{self.name}:{self.lines[path]}"
            shorter = _LAST_PART.sub("", path)
            path = shorter if shorter != path else ""
        return ""


def read(path: str) -> JobFile:
    """Read a job file; `-` is the standard input.

    A relative `workdir` is meant from the file's folder, wherever the command is typed.

    Raises:
        BadInput: it cannot be read, or is no mapping of fields; names line and column.
    """
    text, name = text_of(path)
    file = parse(text, name)
    settle_workdir(file.spec, path)
    return file


def settle_workdir(spec: dict[str, Any], path: str) -> None:
    """Let a spec's `workdir` be where it is seen from the file's folder."""
    workdir = spec.get("workdir")
    if isinstance(workdir, str):
        folder = Path() if path == STDIN else Path(path).parent
        spec["workdir"] = str((folder / workdir).resolve())


def parse(text: str, name: str) -> JobFile:
    """Read a text as `read` reads a file."""
    spec, lines = document_of(text, name)
    if not isinstance(spec, dict):
        raise BadInput(f"{name} must be a mapping of fields, like `name: my-job`.")
    return JobFile(name=name, spec=spec, lines=lines)


def document_of(text: str, name: str) -> tuple[Any, dict[str, int]]:
    """The value of a text, and the line of each of its fields.

    Raises:
        BadInput: it is empty, or no YAML that JSON could say too.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is None:
            raise BadInput(f"{name} is empty: a job needs at least a name and a command.")
        places = _Places()
        places.note(node, "")
        return value_of(text), places.lines
    except yaml.MarkedYAMLError as error:
        raise BadInput(_place_and_problem(error, name)) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{name} holds what a job spec cannot: {error}.") from error


def value_of(text: str) -> Any:
    """The value that a YAML text means, as far as JSON can say it too.

    Raises:
        ValueError, TypeError, yaml.YAMLError: it is no such value.
    """
    value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    json.dumps(value, allow_nan=False)
    return value


class _Loader(yaml.SafeLoader):
    """Safe, and reads words as the service does, by YAML 1.2: dates, `no`, `1:30` are texts."""

    yaml_implicit_resolvers = {}  # those below, and no other

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs lack its type
        if getattr(event, "tag", None) is not None:
            problem = "tags (!!name) are not accepted; write the value alone"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def _whole(loader: _Loader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, base=0 if text[:2] in {"0o", "0x"} else 10)


def _fraction(loader: _Loader, node: yaml.ScalarNode) -> float:
    text = str(loader.construct_scalar(node)).lower()
    return float(text.replace(".", "") if text.endswith(("inf", "nan")) else text)


_NUMBER: Final = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NO_NUMBER: Final = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"  # JSON has none: refused later
for _kind, _words, _first in (  # of the core schema: https://yaml.org/spec/1.2.2/
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", f"{_NUMBER}|{_NO_NUMBER}", list("-+0123456789.")),
):
    _resolver = re.compile(f"^(?:{_words})$")
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", _resolver, _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _whole)
_Loader.add_constructor("tag:yaml.org,2002:float", _fraction)


class _Places:
    """Walks a document once and notes where each field stands."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self._visited: set[int] = set()  # an anchored part is walked where it is written

    def note(self, node: yaml.Node, path: str) -> None:
        if id(node) in self._visited:
            return
        self._visited.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._note_at(item, f"{path}[{index}]", item.start_mark.line)
        elif isinstance(node, yaml.MappingNode):
            self._note_fields(node, path)

    def _note_fields(self, node: yaml.MappingNode, path: str) -> None:
        first_lines: dict[str, int] = {}
        for key, value in node.value:
            mark = key.start_mark
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem="a field's name must be a word", problem_mark=mark
                )
            if key.value in first_lines:
                problem = f"{key.value!r} stands here and on line {first_lines[key.value]}"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
            first_lines[key.value] = mark.line + 1
            self._note_at(value, f"{path}.{key.value}".lstrip("."), mark.line)

    def _note_at(self, node: yaml.Node, path: str, line: int) -> None:
        self.lines[path] = line + 1
        self.note(node, path)


def text_of(path: str) -> tuple[str, str]:
    """What is in a file, and what messages call it; `-` is the standard input.

    Raises:
        BadInput: it cannot be read.
    """
    name = "standard input" if path == STDIN else path
    try:
        return sys.stdin.read() if path == STDIN else Path(path).read_text(encoding="utf-8"), name
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not text: byte {error.start} is not UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}.") from error


def _place_and_problem(error: yaml.MarkedYAMLError, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    problem = " ".join(part for part in (error.context, error.problem) if part)
    return f"{name}{place}: {problem or 'not valid YAML'}."
