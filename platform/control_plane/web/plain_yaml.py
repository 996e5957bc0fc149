"""What does a YAML text mean? It means what it does in YAML 1.2, as far as JSON can say it too.

PyYAML itself reads YAML 1.1, where `no` is false, `1:30` is 90, `010` is 8 and a date is an object.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from control_plane.web import plain_values

_TAG: Final = "tag:yaml.org,2002:"


def read(text: str) -> Any:
    """Read the one document of a text.

    Raises:
        yaml.YAMLError, ValueError, RecursionError: it is not plain YAML.
    """
    return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - it only makes plain values


class _PlainLoader(yaml.SafeLoader):
    """A loader without tags that make objects, or aliases that grow without end."""

    yaml_implicit_resolvers = {}  # those below, and no other

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs lack its type
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted")
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("tags (!!name) are not accepted; write the value alone")
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:  # the stubs' type is wrong
        node = super().compose_mapping_node(anchor)
        try:
            plain_values.check_unique(
                key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)
            )
        except ValueError as error:
            raise yaml.YAMLError(str(error)) from error
        return node


def _whole(loader: _PlainLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, base=0 if text[:2] in {"0o", "0x"} else 10)


def _fraction(loader: _PlainLoader, node: yaml.ScalarNode) -> float:
    text = str(loader.construct_scalar(node)).lower()
    return float(text.replace(".", "") if text.endswith(("inf", "nan")) else text)


_NUMBER: Final = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NO_NUMBER: Final = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"  # JSON has none: refused later
_SCALARS: Final = {  # of the core schema: https://yaml.org/spec/1.2.2/#1032-tag-resolution
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (f"{_NUMBER}|{_NO_NUMBER}", list("-+0123456789.")),
}
for _name, (_pattern, _first) in _SCALARS.items():
    _PlainLoader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)
_PlainLoader.add_constructor(f"{_TAG}int", _whole)
_PlainLoader.add_constructor(f"{_TAG}float", _fraction)
