"""How does a job's coordinator prove which job it speaks for?

The token is the job's id with a signature of the service's secret key. It opens the sync endpoint
of that one job and nothing else, needs no row of its own, and lives as long as the job.
"""

from __future__ import annotations

from typing import Final

from django.core import signing

_SALT: Final = "concertina.job"


def issue(job_id: str) -> str:
    """Return the token for the environment of the job's processes."""
    return signing.Signer(salt=_SALT).sign(job_id)


def opens(token: str, job_id: str) -> bool:
    """Tell whether the token is genuine and of this very job; takes the same time either way."""
    try:
        return signing.Signer(salt=_SALT).unsign(token) == job_id
    except signing.BadSignature:
        return False
