"""How long may things take before the control loop stops waiting? All limits in one place.

Each is a guess that trades patience with slow machines against GPUs held by something hopeless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autoscaler.backoff import Backoff
from concertina_worker.protocol import LONGEST_REST_SECONDS, REST_SECONDS

_BETWEEN_ATTEMPTS: Final = Backoff(first_seconds=1.0, longest_seconds=60.0)
_BETWEEN_RESTARTS: Final = Backoff(first_seconds=2.0, longest_seconds=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """All are seconds. A job's own `grace_period` and `registration_timeout` come from its spec."""

    coordinator_silence: float = REST_SECONDS + 5.0
    """Unheard for longer: what it would say is unknown, not late. However many jobs there are, one
    that changes reports once in `REST_SECONDS` at least."""
    silence_at_rest: float = LONGEST_REST_SECONDS + 5.0  # the same of one that only trains
    coordinator_never_seen: float = 300.0  # a job without any word from it is started anew
    coordinator_farewell: float = 5.0  # to bring its last reports in after the last worker left
    cut_off_farewell: float = 60.0
    """The same for one that was not heard since. Guessed: longer than a restart of the service or a
    network takes; trades when a job is told to be over against the numbers of its last seconds."""
    kill_grace: float = 5.0  # for processes that are not asked to save anything
    hung_worker: float = 20.0  # left out of a generation, and still there
    stuck_change: float = 300.0  # starting or rescaling, everybody ready, and nothing happens
    preparation: float = 1800.0  # a process whose image is being fetched, say
    between_attempts: Backoff = _BETWEEN_ATTEMPTS
    between_restarts: Backoff = _BETWEEN_RESTARTS
    """Of a coordinator, or of an attempt whose workers were all lost; the first is at once."""
    idleness_told_after: float = 600.0
    """Of a job whose spec says nothing of it. Guessed: above what evaluating or saving takes."""
    progress_timeout: float = 3600.0
    """Without a step or a line, where the spec names no other time. Guessed: above what compiling,
    loading or evaluating takes in silence; trades GPUs held for nothing against those."""
    silence_told_after: float = 10.0  # of a node: shorter is no news
    node_lost_after: float = 60.0
    """Silence of a node after which its workers count as lost. Guessed: longer than a daemon or a
    network takes to come back; trades GPUs that stand still against work given up too early."""


LIMITS = TimeLimits()
