"""How do the jobs of a bulk count against its sender's rate? Some of them as much as one request.

How many they are is known once the body was read, so Django takes these tokens. A bulk never needs
more than a full bucket.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rest_framework import exceptions
from rest_framework.request import Request
from tenancy import sign_in
from tenancy.buckets import TokenBucket

from control_plane.front.callers import BUCKET

JOBS_OF_ONE: Final = 25  # guessed: so many jobs of a bulk cost as much as two that come alone


def count_jobs(request: Request, jobs: int) -> None:
    """Take tokens for so many jobs.

    Raises:
        Throttled: there are too few now.
    """
    bucket: TokenBucket | None = getattr(request, "scope", {}).get(BUCKET)
    if bucket is None:
        return
    more = min(jobs // JOBS_OF_ONE, bucket.capacity - bucket.tokens)
    if more <= 0:
        return
    taken = sign_in.buckets().take([replace(bucket, tokens=more)])
    if not taken.is_allowed:
        raise exceptions.Throttled(
            wait=taken.wait_seconds,
            detail=f"{jobs} jobs at once count as {more + bucket.tokens} requests that change"
            f" something, and {bucket.capacity} are allowed at once.",
        )
