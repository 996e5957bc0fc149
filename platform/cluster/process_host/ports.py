"""On which port may a job's coordinator, or its workers' rendezvous, listen?"""

from __future__ import annotations

import random
import socket
from collections.abc import Collection
from typing import Final

FIRST: Final = 20_000  # below the ports that Linux gives to outgoing connections
LAST: Final = 32_000
_ATTEMPTS: Final = 200


class NoFreePort(Exception):
    """Every port tried is in use."""


def free_port(address: str, *, taken: Collection[int]) -> int:
    """A port nobody listens on now and nobody was promised.

    Chosen by chance, so that two control loops that know nothing of each other rarely meet; a
    coordinator that finds its port in use says so and gets another. An address of another machine
    cannot be tried out and is trusted.
    """
    for _ in range(_ATTEMPTS):
        port = random.randint(FIRST, LAST)  # noqa: S311 - not a secret
        if port not in taken and _is_free(address, port):
            return port
    raise NoFreePort


def _is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            return error.errno not in {98, 13}  # in use, forbidden; anything else: not our machine
    return True
