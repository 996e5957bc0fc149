"""How do sentences about jobs name workers, nodes and limits?"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC

from autoscaler.reconciling.worker_snapshot import NodeSnapshot


def listed(names: Collection[str], *, at_most: int = 3) -> str:
    """`a, b and c`; `a, b, c and 4 more`."""
    ordered = list(names)
    if len(ordered) > at_most:
        return f"{', '.join(ordered[:at_most])} and {len(ordered) - at_most} more"
    if len(ordered) < 2:  # noqa: PLR2004 - one name needs no "and"
        return "".join(ordered)
    return f"{', '.join(ordered[:-1])} and {ordered[-1]}"


def counted(number: int, noun: str) -> str:
    """`1 worker`, `2 workers`."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def go_on(number: int) -> str:
    """`1 goes on`, `2 go on`."""
    return f"{number} {'goes' if number == 1 else 'go'} on"


def sentence_case(text: str) -> str:
    """The text with a capital first letter, and all else as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def silence_of(node: NodeSnapshot) -> str:
    """`node n2 has not answered since 14:02 UTC (connection refused)`."""
    if node.silent_since is None:
        return f"node {node.name} answers"
    since = f"{node.silent_since.astimezone(UTC):%H:%M} UTC"
    reason = f" ({node.silent_reason})" if node.silent_reason else ""
    return f"node {node.name} has not answered since {since}{reason}"
