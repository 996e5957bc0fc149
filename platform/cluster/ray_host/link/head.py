"""What does Ray's head say of the nodes? Their rows, and until when those have that it drains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray._private.state import state

from cluster.ray_host.link.membership import DRAINED_UNTIL


def ask_head() -> list[Mapping[str, Any]]:
    """Return a row for each node. May hang for as long as Ray is patient with its head."""
    until = _draining()
    rows: list[dict[str, Any]] = ray.nodes()
    return [
        {**row, DRAINED_UNTIL: until[row["NodeID"]]} if row["NodeID"] in until else row
        for row in rows
    ]


def _draining() -> Mapping[str, int]:
    """Return when each ends that is drained. Ray has no public word for it; some have none."""
    ask: Callable[[], Mapping[str, int]] | None = getattr(state, "get_draining_nodes", None)
    return ask() if ask is not None else {}
