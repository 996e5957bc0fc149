"""What of shells is in Valkey? Orders, two lists for each shell, marks of who is there, and slots.

All of it expires: nothing of a shell outlasts those whom it connects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from control_plane.shells.orders import MOST_OF_ALL, MOST_OF_HOLDER, MOST_OF_JOB, ShellOrder

ORDERS: Final = "concertina:shells:orders"
LEASE_SECONDS: Final = 30  # of a slot, and of a client's mark, which `api` renews
ALIVE_SECONDS: Final = 15  # of the relay's mark
ENTER_SECONDS: Final = 60  # of the same while the attendant is started, on a busy node
LIST_SECONDS: Final = 120
RENEW_SECONDS: Final = 5.0

PUT: Final = """
if redis.call('GET', KEYS[2]) ~= ARGV[4] then
    return -1
end
redis.call('SET', KEYS[3], '1', 'EX', ARGV[5])
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[2]) then
    return 0
end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""
"""Puts something into a list that is not full: 1; full: 0; over, or another's: -1.

Whoever asks gave a sign of life, even if the list is full.
"""


def held(shell: str) -> str:
    """Return the mark that the client's answer is there; it says whose."""
    return f"concertina:shells:{shell}:held"


def heard(shell: str) -> str:
    """Return the mark that the client said something not long ago."""
    return f"concertina:shells:{shell}:heard"


def withdrawn(shell: str) -> str:
    """Return the mark that the client is not there because it may not be any more."""
    return f"concertina:shells:{shell}:withdrawn"


def alive(shell: str) -> str:
    """Return the mark that the relay is there."""
    return f"concertina:shells:{shell}:alive"


def inputs(shell: str) -> str:
    return f"concertina:shells:{shell}:inputs"


def outputs(shell: str) -> str:
    return f"concertina:shells:{shell}:outputs"


def slots(order: ShellOrder) -> Mapping[str, int]:
    """Return where the shell takes a slot, and how many there are: of its job, holder, and all."""
    return {
        f"concertina:shells:of job {order.job_id}": MOST_OF_JOB,
        f"concertina:shells:of {order.holder}": MOST_OF_HOLDER,
        "concertina:shells:of all": MOST_OF_ALL,
    }
