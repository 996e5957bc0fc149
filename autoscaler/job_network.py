"""Which networks can a job have?"""

from __future__ import annotations

from autoscaler.coded_words import CodedWord


class JobNetwork(CodedWord):
    """What a job may ask to reach beside its own processes, and what its team may grant it."""

    ISOLATED = "isolated", "isolated: its jobs reach nobody"
    LISTED = "listed", "listed: a job that asks for it reaches the hosts that are listed"
    EGRESS = "egress", "egress: a job that asks for it reaches what its node reaches"
