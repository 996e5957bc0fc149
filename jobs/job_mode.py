"""How can a job change its workers?"""

from __future__ import annotations

from autoscaler.coded_words import CodedWord


class JobMode(CodedWord):
    """How a job can change its workers; `auto` becomes one of the others once that is known."""

    AUTO = "auto", "auto: hot when the script registers, else restart"
    HOT = "hot", "hot: in process, without losing a step"
    RESTART = "restart", "restart: all workers end and start again from a checkpoint"
    FIXED = "fixed", "fixed: never"
