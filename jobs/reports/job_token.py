"""How do a job's own processes prove which job they are of?

Workers have a token that their coordinator asks for, and that opens nothing else. The coordinator
has another: it opens the sync endpoint of its job, names the coordinator's term, and holds for
`LIFETIME`; the answer to a sync brings the next one in time. Both are signed with the service's
secret key and need no row of their own.

Until there were two, workers and coordinator had the one that only workers have now. It still
speaks for a coordinator that was started with it: see `Job.takes_workers_token`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.core import signing

LIFETIME: Final = timedelta(days=30)  # guessed: far above any outage of a service
RENEWED_AFTER: Final = timedelta(days=1)
_OF_WORKERS: Final = "concertina.job"
_OF_COORDINATOR: Final = "concertina.job.coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a token says about the coordinator that has it; without a term it is a worker's."""

    term: int | None
    is_to_be_renewed: bool = False


def of_workers(job_id: str) -> str:
    """Return the token of the job's workers, by which its coordinator recognises them.

    It is the same for all workers, whenever they start: they outlive their coordinator.
    """
    return signing.Signer(salt=_OF_WORKERS).sign(job_id)


def of_coordinator(job_id: str, *, term: int, now: datetime) -> str:
    """Return the token for the environment of the job's coordinator of this term."""
    expires = int((now + LIFETIME).timestamp())
    return signing.Signer(salt=_OF_COORDINATOR).sign(f"{job_id}:{term}:{expires}")


def read(token: str, job_id: str, *, now: datetime) -> Credential | None:
    """Return what the token says, if it is genuine, belongs to this job and has not expired."""
    content = _unsigned(token, _OF_COORDINATOR)
    if content is None:
        return Credential(term=None) if _unsigned(token, _OF_WORKERS) == job_id else None
    whose, term, expires = content.split(":")
    left = datetime.fromtimestamp(int(expires), UTC) - now
    if whose != job_id or left <= timedelta():
        return None
    return Credential(term=int(term), is_to_be_renewed=left < LIFETIME - RENEWED_AFTER)


def _unsigned(token: str, salt: str) -> str | None:
    try:
        return signing.Signer(salt=salt).unsign(token)
    except signing.BadSignature:
        return None
