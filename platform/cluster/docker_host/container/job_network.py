"""What do a job's containers reach beside one another? An installation's choice."""

from __future__ import annotations

from enum import StrEnum


class JobNetwork(StrEnum):
    """What a job's containers reach beside one another."""

    ISOLATED = "isolated"  # nothing: neither the world nor the node
    EGRESS = "egress"  # the world, and whatever listens on the node
