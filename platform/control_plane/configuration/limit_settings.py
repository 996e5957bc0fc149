"""How much may be asked of the service at once? This is what the environment says about it."""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass
from typing import Final

from cluster.variables import BadEnvironment, EnvironmentVariables

LARGEST_BODY: Final = 512 * 1024  # bytes of any other request body; far above any job spec
LARGEST_BULK: Final = 2 * 2**20  # bytes of many job specs

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Bounds of one process of `api`; rates are counted over all processes. A rate of 0: none."""

    api_threads: int  # that answer people and programs, each with a connection to the database
    largest_spec_bytes: int
    statement_seconds: float  # that a request waits for the database; 0: without end
    read_rate: int  # requests a second of one token or person that read
    write_rate: int  # and that write
    sync_rate: int  # reports a second of one job
    unknown_rate: int  # requests a second of one address that showed no valid credential yet
    processor_share: float  # of one processor, that a team has while processors are short
    longest_token_days: int  # of tokens that leads make
    internal_networks: tuple[Network, ...]  # whose coordinators may come through the proxy


def read(variables: EnvironmentVariables) -> LimitSettings:
    """Raises: BadEnvironment."""
    limits = LimitSettings(
        api_threads=variables.whole("CONCERTINA_API_THREADS", default=8, at_least=1),
        largest_spec_bytes=variables.size(
            "CONCERTINA_LARGEST_SPEC_BYTES", default=64 * 1024, at_least=1024
        ),
        statement_seconds=float(
            variables.whole("CONCERTINA_STATEMENT_SECONDS", default=30, at_least=0)
        ),
        read_rate=variables.whole("CONCERTINA_READ_RATE", default=100, at_least=0),
        write_rate=variables.whole("CONCERTINA_WRITE_RATE", default=10, at_least=0),
        sync_rate=variables.whole("CONCERTINA_SYNC_RATE", default=4, at_least=0),
        unknown_rate=variables.whole("CONCERTINA_UNKNOWN_RATE", default=20, at_least=0),
        processor_share=_share(variables, "CONCERTINA_PROCESSOR_SHARE", percent=25),
        longest_token_days=variables.whole(
            "CONCERTINA_LONGEST_TOKEN_DAYS", default=365, at_least=1
        ),
        internal_networks=_networks(variables, "CONCERTINA_INTERNAL_NETWORKS"),
    )
    if limits.largest_spec_bytes > LARGEST_BODY:
        raise BadEnvironment(
            f"CONCERTINA_LARGEST_SPEC_BYTES={limits.largest_spec_bytes}: no request body has more"
            f" than {LARGEST_BODY} bytes. Use at most that."
        )
    return limits


def _share(variables: EnvironmentVariables, name: str, *, percent: int) -> float:
    return variables.whole(name, default=percent, at_least=0) / 100 or math.inf


def _networks(variables: EnvironmentVariables, name: str) -> tuple[Network, ...]:
    text = variables.text(name, default="")
    try:
        return tuple(ipaddress.ip_network(one.strip()) for one in text.split(",") if one.strip())
    except ValueError as error:
        raise BadEnvironment(
            f"{name}={text!r}: {error}. Use networks with commas between, such as 10.0.0.0/24."
        ) from None
