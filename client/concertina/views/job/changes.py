"""How is it shown what was changed of a job, and how to change it?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from concertina.documents import JobDetail

_OPTIONS = {
    "elastic.min_workers": "--min-workers",
    "elastic.max_workers": "--max-workers",
    "priority": "--priority",
    "preemptibility": "--preemptibility",
}


def changed(before: JobDetail, after: JobDetail) -> str:
    """Say what of a job's spec is different now, a line for each field."""
    name = f"{after['team']}/{after['name']} ({after['id']})"
    was, is_now = dict(_leaves(before["resolved_spec"])), dict(_leaves(after["resolved_spec"]))
    fields = [field for field in {**was, **is_now} if was.get(field) != is_now.get(field)]
    if not fields:
        return f"{name} asks for that already."
    lines = (f"  {field}: {_value(was, field)} → {_value(is_now, field)}" for field in fields)
    return "\n".join([f"{name} has changed, and is at version {after['version']} now:", *lines])


def command(job_id: str, changes: Mapping[str, Any]) -> str:
    """Return the command that makes these changes."""
    words = ["concertina", "edit", job_id]
    for field, value in _leaves(changes):
        option = _OPTIONS.get(field)
        words += [option, str(value)] if option else ["--set", f"{field}={value}"]
    return shlex.join(words)


def _leaves(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _value(leaves: Mapping[str, Any], field: str) -> str:
    value = leaves.get(field)
    return "none" if value is None else str(value)
