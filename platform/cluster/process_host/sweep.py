"""How is everything of one installation stopped? `python -m cluster.process_host.sweep <state>`.

For shutting an installation down, not for its daily work: jobs are not told, they are ended.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Final

from cluster.process_host.host import ProcessHost
from cluster.process_host.record import leftovers
from cluster.worker_host import ProcessPhase

_POLL_SECONDS: Final = 0.05


def sweep(state_dir: Path, *, grace_seconds: float) -> int:
    """Stop every process of the installation, kill what is left; returns how many there were.

    Blocks until all have ended, at most a few seconds longer than the grace period.
    """
    host = ProcessHost(state_dir=state_dir.absolute())
    stopped = set(_running(host))
    for process_id in stopped:
        host.stop(process_id, grace_seconds=grace_seconds)
    give_up_at = time.monotonic() + grace_seconds + 2.0
    while _running(host) and time.monotonic() < give_up_at:
        time.sleep(_POLL_SECONDS)
    leftovers.kill_all(state_dir.absolute() / "processes")
    return len(stopped)


def _running(host: ProcessHost) -> list[str]:
    return [
        process.labels.process_id
        for process in host.list().processes
        if process.phase is ProcessPhase.RUNNING
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=sweep.__doc__)
    parser.add_argument("state_dir", type=Path)
    parser.add_argument("--grace-seconds", type=float, default=5.0)
    options = parser.parse_args()
    stopped = sweep(options.state_dir, grace_seconds=options.grace_seconds)
    sys.stdout.write(f"{stopped} processes stopped\n")


if __name__ == "__main__":
    main()
