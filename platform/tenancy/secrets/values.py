"""What may a secret hold? Variables for a job's environment, or the login of an image registry.

Neither their reprs nor the faults that are found show a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tenancy.errors import FieldFault, SecretInvalid
from tenancy.registries import canonical_registry, is_registry

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_OURS: Final = "CONCERTINA_"
_MOST_VARIABLES: Final = 100
_MOST_CHARACTERS: Final = 32 * 1024  # guessed: above any key file, below what a kernel passes on


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretVariables:
    """Names with their values, for the environment of a job's workers."""

    values: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySecret:
    """How to be let into one private registry."""

    registry: str  # host[:port]
    username: str = field(repr=False)
    password: str = field(repr=False)


def variables(values: Mapping[str, str]) -> SecretVariables:
    """Check variables.

    Raises:
        SecretInvalid: a name or value does not fit, or there are too many.
    """
    _refuse_if_any(_faults_of_variables(values))
    return SecretVariables(values=dict(values))


def registry_login(*, registry: str, username: str, password: str) -> RegistrySecret:
    """Check a login; its registry is written as at the beginning of images' names.

    Raises:
        SecretInvalid: the registry is not a host, or a part is missing or does not fit.
    """
    host = canonical_registry(registry)
    found = [] if is_registry(host) else [_NO_REGISTRY]
    for name, text in (("username", username), ("password", password)):
        found += (
            [FieldFault(field=name, problem="is missing", remedy="Add it.")] if not text else []
        )
        found += _faults_of_text(name, text)
    _refuse_if_any(found)
    return RegistrySecret(registry=host, username=username, password=password)


_NO_REGISTRY: Final = FieldFault(
    field="registry",
    problem="is not a registry",
    remedy="Write its host, with its port if it has one, such as registry.example.com:5000.",
)


def _faults_of_variables(values: Mapping[str, str]) -> Iterator[FieldFault]:
    if not values:
        yield FieldFault(
            field="variables", problem="is empty", remedy="Give at least one variable."
        )
    if len(values) > _MOST_VARIABLES:
        yield FieldFault(
            field="variables",
            problem=f"has {len(values)} entries",
            remedy=f"Use at most {_MOST_VARIABLES}.",
        )
        return
    for name, value in values.items():
        place = f"variables.{name[:80]}"
        if not _VARIABLE.fullmatch(name):
            yield FieldFault(
                field=place,
                problem="is not a variable name",
                remedy="Use letters, digits and underscores, not beginning with a digit.",
            )
        if name.startswith(_OURS):
            yield FieldFault(
                field=place, problem="is one the platform sets itself", remedy="Rename it."
            )
        yield from _faults_of_text(place, value)


def _faults_of_text(place: str, text: str) -> Iterator[FieldFault]:
    if "\0" in text:
        yield FieldFault(field=place, problem="contains a null character", remedy="Remove it.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield FieldFault(
            field=place, problem="is not text", remedy="Encode what is not text as base64."
        )
    if len(text) > _MOST_CHARACTERS:
        yield FieldFault(
            field=place,
            problem=f"has {len(text)} characters",
            remedy=f"Use at most {_MOST_CHARACTERS}; put larger files into the job's image.",
        )


def _refuse_if_any(faults: Iterator[FieldFault] | list[FieldFault]) -> None:
    found = list(faults)
    if found:
        raise SecretInvalid(found)
