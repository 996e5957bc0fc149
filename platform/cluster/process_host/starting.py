"""How are supervisors started? All at once, and then waited for, because each needs a moment."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from cluster.process_host import records
from cluster.worker_host import HostUnavailable, Labels

DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_SOURCE_ROOT: Final = Path(__file__).resolve().parents[2]  # holds the package `cluster`
_TIMEOUT_SECONDS: Final = 30.0  # a supervisor needs 0.1 s; generous for a loaded machine


def start_supervisors(starts: Iterable[tuple[records.Record, Labels]]) -> None:
    """Start a supervisor for each record; returns when all starts are on record.

    Raises:
        HostUnavailable: not all could be started; those that could, run.
    """
    beginning: list[subprocess.Popen[bytes]] = []
    try:
        beginning.extend(_begin(record, labels) for record, labels in starts)
    except OSError as problem:
        raise HostUnavailable(f"No supervisor could be started: {problem}") from problem
    finally:
        slow = _wait_for(beginning)
    if slow:
        raise HostUnavailable(f"{slow} supervisors did not start in {_TIMEOUT_SECONDS:.0f} s.")


def _begin(record: records.Record, labels: Labels) -> subprocess.Popen[bytes]:
    """It leaves our process tree; what we have is its parent, which ends when it is on record."""
    env = {
        "PATH": DEFAULT_PATH,
        records.RECORD_VARIABLE: str(record.folder),
        records.LABELS_VARIABLE: json.dumps(asdict(labels)),
    }
    arguments = ("-S", "-E", "-m", "cluster.process_host.supervisor", str(record.folder))
    with (record.folder / "supervisor.log").open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            (sys.executable, *arguments),
            cwd=_SOURCE_ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _wait_for(beginning: Sequence[subprocess.Popen[bytes]]) -> int:
    """Returns how many did not come in time; those are not waited for any longer."""
    give_up_at = time.monotonic() + _TIMEOUT_SECONDS
    slow = 0
    for parent in beginning:
        try:
            parent.wait(timeout=max(give_up_at - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            parent.kill()
            parent.wait()
            slow += 1
    return slow
