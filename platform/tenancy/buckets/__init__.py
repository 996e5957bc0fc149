"""How often may something happen? Buckets of tokens that fill up again, counted for all processes.

`bucket` says what one is, `script` takes tokens in Redis, `local` does the same within a process
while Redis is away, and `shared` goes to the one or the other.
"""

from __future__ import annotations

from tenancy.buckets.bucket import TokenBucket, TokensTaken
from tenancy.buckets.local import LocalBuckets
from tenancy.buckets.shared import AsyncBuckets, SharedBuckets

__all__ = ("AsyncBuckets", "LocalBuckets", "SharedBuckets", "TokenBucket", "TokensTaken")
