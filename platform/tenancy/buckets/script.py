"""How are tokens taken in Redis, in one round trip, by its own clock?

Only the moment is stored at which a bucket will be full again: taking a token moves it by
`1 / per_second`. A full bucket is the same as none, so its key expires then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tenancy.buckets.bucket import TokenBucket, TokensTaken

TAKE: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local full_at, wait, reset, remaining = {}, 0, 0, math.huge
for i, key in ipairs(KEYS) do
    local capacity, per_second = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
    local window = capacity / per_second
    -- Never more than empty: a clock that was set back does not shut anybody out.
    local known = math.min(tonumber(redis.call('GET', key) or now), now + window)
    full_at[i] = math.max(known, now) + tonumber(ARGV[3 * i]) / per_second
    wait = math.max(wait, full_at[i] - now - window)
    reset = math.max(reset, full_at[i] - now)
    remaining = math.min(remaining, math.floor((window - (full_at[i] - now)) * per_second + 1e-6))
end
if wait > 1e-6 then
    return {0, 0, tostring(reset), tostring(wait)}
end
for i, key in ipairs(KEYS) do
    local seconds = math.ceil(full_at[i] - now) + 1
    redis.call('SET', key, string.format('%.6f', full_at[i]), 'EX', seconds)
end
return {1, remaining, tostring(reset), '0'}
"""


def keys(buckets: Sequence[TokenBucket]) -> list[str]:
    return [bucket.key for bucket in buckets]


def arguments(buckets: Sequence[TokenBucket]) -> list[str]:
    return [str(part) for one in buckets for part in (one.capacity, one.per_second, one.tokens)]


def read(answer: Any) -> TokensTaken:
    """Translate the script's answer."""
    is_allowed, remaining, reset, wait = answer
    return TokensTaken(
        is_allowed=bool(is_allowed),
        remaining=int(remaining),
        reset_seconds=float(reset),
        wait_seconds=float(wait),
    )
