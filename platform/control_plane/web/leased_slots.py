"""How do all processes together count what is open, so that nothing stays counted for ever?

A slot is a member of a sorted set for each bound, with the moment at which it expires: the slots of
a killed process are free again after its lease. Both scripts are given the sets as keys, and first
the slot's name and the seconds of its lease.
"""

from __future__ import annotations

from typing import Final

TAKE: Final = """
local now = redis.call('TIME')[1]
for i, key in ipairs(KEYS) do
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    if redis.call('ZCARD', key) >= tonumber(ARGV[2 + i]) then
        return i
    end
end
for _, key in ipairs(KEYS) do
    redis.call('ZADD', key, now + ARGV[2], ARGV[1])
    redis.call('EXPIRE', key, ARGV[2])
end
return 0
"""
"""Takes a slot in each set, of which the most follow: 0; or in none: the number of one full set."""

RENEW: Final = """
local now = redis.call('TIME')[1]
for _, key in ipairs(KEYS) do
    redis.call('ZADD', key, now + ARGV[2], ARGV[1])
    redis.call('EXPIRE', key, ARGV[2])
end
"""
