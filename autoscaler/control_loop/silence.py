"""What do people read of a node that does not answer?"""

from __future__ import annotations

from datetime import UTC

from cluster.models import Node


def told(node: Node) -> str:
    """`node n2 has not answered since 14:02 UTC (connection refused)`."""
    if node.silent_since is None:
        return f"node {node.name} answers"
    since = f"{node.silent_since.astimezone(UTC):%H:%M} UTC"
    reason = f" ({node.silent_reason})" if node.silent_reason else ""
    return f"node {node.name} has not answered since {since}{reason}"
