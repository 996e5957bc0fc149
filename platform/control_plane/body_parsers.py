"""How are request bodies read? As JSON or YAML, of bounded size, without surprises."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any, Final

import yaml
from rest_framework import exceptions
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.utils.json import strict_constant

from control_plane.limit_settings import LARGEST_BODY

LARGEST_YAML: Final = 64 * 1024  # reading it takes a hundred times as long as JSON


class BoundedJsonParser(JSONParser):
    """JSON, small enough and not nested without end."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _check_size(parser_context)
        try:
            return json.loads(
                stream.read().decode(),
                parse_constant=strict_constant,
                object_pairs_hook=_without_repetition,
            )
        except RecursionError as error:
            raise exceptions.ParseError("The body is nested too deeply.") from error
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not JSON: {error}") from error


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_unique(name for name, _ in pairs)
    return dict(pairs)


def _check_unique(names: Iterable[str]) -> None:
    """Refuse what both languages would settle silently: the last of two values wins.

    Raises:
        ValueError: a name stands twice.
    """
    known = set()
    for name in names:
        if name in known:
            raise ValueError(f"the field {name[:80]!r} stands twice")
        known.add(name)


class YamlParser(BaseParser):
    """YAML's plain part: no tags that make objects, no aliases that grow without end."""

    media_type = "application/yaml"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _check_size(parser_context, at_most=LARGEST_YAML)
        try:
            return yaml.load(stream.read(LARGEST_BODY), Loader=_PlainLoader)  # noqa: S506 - is safe
        except yaml.YAMLError as error:
            raise exceptions.ParseError(f"The body is not YAML: {error}") from error
        except (RecursionError, ValueError) as error:
            raise exceptions.ParseError("The body is not plain YAML.") from error


class _PlainLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted")
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:  # the stubs' type is wrong
        node = super().compose_mapping_node(anchor)
        try:
            _check_unique(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        except ValueError as error:
            raise yaml.YAMLError(str(error)) from error
        return node


class BodyTooLarge(exceptions.APIException):
    status_code = 413

    def __init__(self, largest: int = LARGEST_BODY) -> None:
        super().__init__(f"A request body here has at most {largest} bytes. Send less at once.")


def _check_size(parser_context: Mapping[str, Any] | None, *, at_most: int = LARGEST_BODY) -> None:
    """Refuse more than the view takes, or than it takes in this language."""
    told = parser_context or {}
    largest = min(getattr(told.get("view"), "largest_body", None) or LARGEST_BODY, at_most)
    request = told.get("request")
    if request is not None and int(request.META.get("CONTENT_LENGTH") or 0) > largest:
        raise BodyTooLarge(largest)
