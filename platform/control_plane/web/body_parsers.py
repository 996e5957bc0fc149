"""How are request bodies read? As JSON or YAML, of bounded size, without surprises.

What both parsers give is plain: see `plain_values`. A view has no parsers but these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

import yaml
from django.utils.http import parse_header_parameters
from rest_framework import exceptions
from rest_framework.parsers import BaseParser
from rest_framework.utils.json import strict_constant

from control_plane.configuration.limit_settings import LARGEST_BODY
from control_plane.web import plain_values, plain_yaml

LARGEST_YAML: Final = 64 * 1024  # reading it takes a hundred times as long as JSON


class BodyTooLarge(exceptions.APIException):
    status_code = 413

    def __init__(self, largest: int = LARGEST_BODY) -> None:
        super().__init__(f"A request body here has at most {largest} bytes. Send less at once.")


class NotPlain(exceptions.ParseError):
    """The body has values that neither the database nor an answer could carry."""

    def __init__(self, faults: tuple[plain_values.NotPlainValue, ...]) -> None:
        super().__init__(" ".join(map(str, faults[:3])))
        self.faults = faults


class _BoundedParser(BaseParser):
    """A language of bodies; `read` raises ValueError or RecursionError for anything else."""

    language: str
    largest_body: int | None = None  # in this language, whatever the view takes
    read: Callable[[str], Any]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        _check_size(parser_context, at_most=self.largest_body)
        _check_encoding(media_type or "")
        try:
            document = type(self).read(stream.read().decode("utf-8-sig"))
        except RecursionError as error:
            raise exceptions.ParseError("The body is nested too deeply.") from error
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not {self.language}: {error}") from error
        if faults := tuple(plain_values.faults_of(document)):
            raise NotPlain(faults)
        return document


def _read_json(text: str) -> Any:
    return json.loads(text, parse_constant=strict_constant, object_pairs_hook=_without_repetition)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain_values.check_unique(name for name, _ in pairs)
    return dict(pairs)


def _read_yaml(text: str) -> Any:
    try:
        return plain_yaml.read(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


class BoundedJsonParser(_BoundedParser):
    """JSON, small enough and not nested without end."""

    media_type = "application/json"
    language = "JSON"
    read = staticmethod(_read_json)


class YamlParser(_BoundedParser):
    """YAML's plain part: what JSON could say as well."""

    media_type = "application/yaml"
    language = "YAML"
    largest_body = LARGEST_YAML
    read = staticmethod(_read_yaml)


def _check_size(parser_context: Mapping[str, Any] | None, *, at_most: int | None) -> None:
    """Refuse a body larger than the view takes, or than it takes in this language."""
    context = parser_context or {}
    largest = getattr(context.get("view"), "largest_body", None) or LARGEST_BODY
    largest = min(largest, at_most or largest)
    request = context.get("request")
    if request is not None and int(request.META.get("CONTENT_LENGTH") or 0) > largest:
        raise BodyTooLarge(largest)


def _check_encoding(media_type: str) -> None:
    named = str(parse_header_parameters(media_type)[1].get("charset", "utf-8")).lower()
    if named not in {"utf-8", "utf8", "us-ascii"}:
        raise exceptions.UnsupportedMediaType(
            media_type, detail=f"A body in {named[:40]} is not read. Send it in UTF-8."
        )
