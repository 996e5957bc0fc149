"""What does a text of YAML say, and on which line? As far as JSON could say it, too.

Words are read as the service reads them, by YAML 1.2. A key that stands twice is an error here:
YAML would silently take the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

import yaml

from concertina.errors import BadInput


def document_of(text: str, name: str) -> tuple[Any, dict[str, int]]:
    """Return the value of a text, and the line of each of its fields.

    Raises:
        BadInput: it is empty, or no YAML that JSON could say too.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is None:
            raise BadInput(f"{name} is empty.")
        _check_size(node)
        places = _Places()
        places.note(node, "")
        return _loaded(text), places.lines
    except yaml.MarkedYAMLError as error:
        raise BadInput(_place_and_problem(error, name)) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{name} holds what JSON could not say: {error}.") from error


def value_of(text: str) -> Any:
    """Return the value that a YAML text means.

    Raises:
        ValueError: it is none that JSON can say too.
    """
    try:
        return _loaded(text)
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError(str(error)) from error


def _loaded(text: str) -> Any:
    value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    json.dumps(value, allow_nan=False)
    return value


_MOST_VALUES: Final = 1_000_000  # guessed: far more than the service takes in a body


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


def _check_size(root: yaml.Node) -> None:
    """Refuse a few lines that aliases multiply without end. Raises: MarkedYAMLError."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is None:
            sizes[id(node)] = 1  # of one inside itself, which is refused when it is written
            known = sizes[id(node)] = 1 + sum(map(size, _parts(node)))
        return known

    if size(root) > _MOST_VALUES:
        problem = f"this is more than {_MOST_VALUES} values, with what aliases (*name) stand for"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=root.start_mark)


def _parts(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return chain.from_iterable(node.value)
    return node.value if isinstance(node, yaml.SequenceNode) else ()


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


def _place_and_problem(error: yaml.MarkedYAMLError, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    problem = " ".join(part for part in (error.context, error.problem) if part)
    return f"{name}{place}: {problem or 'not valid YAML'}."
