"""Is this one process of the service well? Its container asks every few seconds.

`python -m control_plane.probe api|beat|control|io` ends with 0 if it is, else with a sentence.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from control_plane.configuration import environment
from control_plane.configuration.environment import Environment

TIMEOUT_SECONDS: Final = 4.0
_LATE_TICKS: Final = 6  # a loop that misses so many does not turn
_BEAT_SCHEDULE: Final = Path("/tmp/beat-schedule")  # noqa: S108 - of the container
_HEARTBEAT_STALE_SECONDS: Final = 30.0
_BEAT_STALE_SECONDS: Final = 600.0  # beat writes it every three minutes


class NotWell(Exception):
    """The process does not do its work."""


def main(name: str) -> None:
    """Ask the process; a problem ends the program with a sentence."""
    try:
        PROBES[name](environment.read())
    except (NotWell, OSError, ValueError) as problem:
        sys.exit(f"{name}: {problem}")


def probe_api(configuration: Environment) -> None:
    """Check that it answers, and has its database and its Redis."""
    _health("http://127.0.0.1:8000", host=urlsplit(configuration.internal_url).netloc)


def probe_beat(_: Environment) -> None:
    """Check that it wrote its schedule not long ago."""
    files = sorted(_BEAT_SCHEDULE.parent.glob(f"{_BEAT_SCHEDULE.name}*"))
    _check_age(files or [_BEAT_SCHEDULE], _BEAT_STALE_SECONDS)


def probe_control(configuration: Environment) -> None:
    """Check that it lives, and that the loop turned lately as the api knows, if there is a pool.

    If the api does not answer, that is not this process's fault.
    """
    probe_io(configuration)
    try:
        seconds_ago = _health(configuration.internal_url)["control_loop_seconds_ago"]
    except OSError:
        return
    if seconds_ago is not None and seconds_ago > _LATE_TICKS * configuration.tick_seconds:
        raise NotWell(f"the control loop last turned {seconds_ago:.0f} s ago.")


def probe_io(configuration: Environment) -> None:
    """Check that it lives, and is connected to Redis."""
    if configuration.heartbeat_file is None:
        raise NotWell("CONCERTINA_HEARTBEAT_FILE is not set.")
    _check_age([configuration.heartbeat_file], _HEARTBEAT_STALE_SECONDS)


def _check_age(files: Sequence[Path], seconds: float) -> None:
    """Check that one of the files was written at most so many seconds ago."""
    age = min(time.time() - file.stat().st_mtime for file in files)
    if age > seconds:
        raise NotWell(f"{files[0]} was last written {age:.0f} s ago.")


PROBES: Final[Mapping[str, Callable[[Environment], None]]] = {
    "api": probe_api,
    "beat": probe_beat,
    "control": probe_control,
    "io": probe_io,
}


def _health(url: str, *, host: str | None = None) -> Mapping[str, Any]:
    request = urllib.request.Request(f"{url}/api/v1/health")  # noqa: S310 - our own address
    if host is not None:
        request.add_header("Host", host)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
        health: Mapping[str, Any] = json.load(answer)
        return health


if __name__ == "__main__":
    main(sys.argv[1])
