"""How must a job end, so that one that waits for it may start?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from autoscaler.coded_words import CodedWord
from jobs.lifecycle import FINAL, JobState


class WaitCondition(CodedWord):
    """How another job has to end first."""

    OK = "ok", "ok: it completed"
    ANY = "any", "any: it ended, however it did"
    FAILED = "failed", "failed: it failed"


MET_BY: Final[Mapping[WaitCondition, frozenset[JobState]]] = {
    WaitCondition.OK: frozenset({JobState.COMPLETED}),
    WaitCondition.ANY: FINAL,
    WaitCondition.FAILED: frozenset({JobState.FAILED}),
}
