"""Does each operation say which permission it needs? If one does not, the service never starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from drf_spectacular.generators import SchemaGenerator

from control_plane.api.operation_permissions import OPERATIONS


def operations() -> Iterator[str]:
    """Yield the name of each operation that an address leads to, as OpenAPI has it."""
    yield from (name for _, _, name in named_views())


def named_views() -> Iterator[tuple[type[Any], str, str]]:
    """Yield the class of each view, a method that it answers, and the operation that this is."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # theirs is untyped
    generator._initialise_endpoints()  # type: ignore[no-untyped-call] # noqa: SLF001 - it has no public word for it
    endpoints: Any = generator._get_paths_and_endpoints()  # type: ignore[no-untyped-call] # noqa: SLF001
    for path, _, method, view in endpoints:
        schema = view.schema
        schema.path, schema.method = path, method
        if not schema.is_excluded():
            yield type(view), method, schema.get_operation_id()


def problems() -> Sequence[CheckMessage]:
    """Find operations without an entry, and entries without an operation."""
    found = set(operations())
    hint = "See control_plane/api/operation_permissions.py."
    without = [
        Error(f"Nobody says which permission {name} needs.", hint=hint, id="concertina.E001")
        for name in sorted(found - OPERATIONS.keys())
    ]
    left_over = [
        Error(f"There is no operation {name}.", hint=hint, id="concertina.E002")
        for name in sorted(OPERATIONS.keys() - found)
    ]
    return [*without, *left_over]


def check_before_serving() -> None:
    """Raises: ImproperlyConfigured, with each operation that nobody may be asked for."""
    if found := problems():
        raise ImproperlyConfigured("\n".join(map(str, found)))
