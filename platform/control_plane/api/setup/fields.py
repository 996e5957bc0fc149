"""Which names may stand in a set-up? A misspelt one is refused, not passed over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from django.core.exceptions import ValidationError
from rest_framework import exceptions, serializers
from tenancy.image_names import LONGEST, BadName, ImagePattern
from tenancy.models import slug_validator

_LONGEST_NODE: Final = 80


class NamedObjectsField(serializers.DictField):
    """Objects by name."""

    def __init__(self, *, check_name: Callable[[str], None], most: int, **more: Any) -> None:
        super().__init__(**more)
        self._check_name = check_name
        self._most = most

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            if len(data) > self._most:
                raise exceptions.ValidationError(f"These are {len(data)}; at most {self._most}.")
            wrong = {str(name)[:100]: problem for name in data if (problem := self._wrong(name))}
            if wrong:
                raise exceptions.ValidationError(wrong)
        return super().to_internal_value(data)

    def _wrong(self, name: Any) -> str:
        try:
            self._check_name(str(name))
        except ValidationError as error:
            return f"This is no name. {' '.join(error.messages)}"
        return ""


class PatternField(serializers.CharField):
    """A pattern of images; validated it is written in full."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"max_length": LONGEST, **more})

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return str(ImagePattern.parse(text))
        except BadName as error:
            raise exceptions.ValidationError(f"This {error.problem}. {error.remedy}") from error


def check_slug(name: str) -> None:
    """Raises: ValidationError, unless teams and pools may be called so."""
    if not re.fullmatch(slug_validator.regex, name):  # which itself lets a line's end pass
        raise ValidationError(str(slug_validator.message))


def check_node_name(name: str) -> None:
    """Raises: ValidationError, unless a node may be called so."""
    if not 0 < len(name) <= _LONGEST_NODE or not name.isprintable() or set(name) & set(" /?#%"):
        raise ValidationError(
            f"Use 1 to {_LONGEST_NODE} characters, without blanks, slashes, ?, # and %."
        )
