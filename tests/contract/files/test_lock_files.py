"""How do service processes wait for each other?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster.files import lock_files
from cluster.files.lock_files import holding

from tests.contract.conftest import until


def waiters(path: Path) -> list[str]:
    """Those who wait for this file's lock in the kernel."""
    inode = f":{path.stat().st_ino} "
    return [
        line
        for line in Path("/proc/locks").read_text().splitlines()
        if "->" in line and inode in line
    ]


def test_who_waits_for_a_lock_without_a_limit_is_woken_and_does_not_ask_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the follower of a log does whose container another service process follows, for days."""

    def sleep(_: float) -> None:
        pytest.fail("it polls")

    monkeypatch.setattr(lock_files.time, "sleep", sleep)
    path = tmp_path / "record" / "log.lock"

    def wait() -> bool:
        with holding(path) as is_ours:
            return is_ours

    with ThreadPoolExecutor() as pool:
        with holding(path):
            waiting = pool.submit(wait)
            until(lambda: waiting.done() or waiters(path))
        assert waiting.result(20)
