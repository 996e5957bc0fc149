"""How does a partial spec fill what another leaves out? Field by field, in the parts that are flat.

What is said stays as it is, null included, and of `pool` and `pools` only one is taken. A part that
is one of several alternatives, such as `code`, `start_from` or the range of a batch, is taken whole
or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jobs.spec.job_spec import without_aliases

FLAT_PARTS: Final = frozenset(
    {"resources", "elastic", "batch", "retry", "checkpoint", "env", "labels"}
)
ONE_OF_BOTH: Final = {"pool": "pools", "pools": "pool"}


def filled(document: Mapping[Any, Any], partial: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with what it leaves out taken from the partial spec."""
    found = without_aliases(document)
    said = {name for name, value in found.items() if value is not None}
    for name, value in without_aliases(partial).items():
        if ONE_OF_BOTH.get(name) in said:
            continue
        if name not in found:
            found[name] = value
        elif name in FLAT_PARTS and isinstance(found[name], Mapping) and isinstance(value, Mapping):
            found[name] = {**value, **found[name]}
    return found


def with_defaults_for_nulls(changes: Any, partial: Mapping[str, Any]) -> Any:
    """Return changes of a spec in which null, which brings back a default, brings back these."""
    if not isinstance(changes, Mapping):
        return changes
    plain = without_aliases(changes)
    for name, value in plain.items():
        default = partial.get(name)
        if value is None and default is not None:
            plain[name] = default
        elif name in FLAT_PARTS and isinstance(value, Mapping) and isinstance(default, Mapping):
            plain[name] = {
                inner: default.get(inner) if said is None else said for inner, said in value.items()
            }
    return plain
