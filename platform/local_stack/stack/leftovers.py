"""What did an earlier run leave running, and how does it go away?"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
from cluster.process_host.sweep import sweep

from local_stack import stack_record
from local_stack.checkout import Checkout
from local_stack.containers import ending, own_daemon
from local_stack.stack_record import ProcessRecord

SAME_START_SECONDS = 2.0  # two processes of one pid start further apart than that
PATIENCE_SECONDS = 8.0
TRAINING_GRACE_SECONDS = 10.0  # for a last checkpoint


def sweep_processes(checkout: Checkout, *, say: Callable[[str], None]) -> None:
    """End what a killed supervisor left of its own processes; call under the supervisor's lock."""
    record = stack_record.read(checkout)
    found = [process for one in record.processes if (process := _find(one))] if record else []
    if not found:
        return
    say(f"  Ending {len(found)} processes that an earlier run left")
    tree = [*found, *(child for process in found for child in _children(process))]
    _, alive = psutil.wait_procs(found, timeout=PATIENCE_SECONDS / 2)  # the tether ends them
    for process in alive:
        process.terminate()
    _, alive = psutil.wait_procs(tree, timeout=PATIENCE_SECONDS / 2)
    for process in alive:
        process.kill()


def _children(process: psutil.Process) -> list[psutil.Process]:
    """All below it; but containers go on without their daemon, until the next one adopts them."""
    if process.name() == own_daemon.PROGRAM:
        return []
    return process.children(recursive=True)


def sweep_training(checkout: Checkout, *, say: Callable[[str], None]) -> None:
    """End the training processes of this checkout; each may write a last checkpoint."""
    began = time.monotonic()
    nodes = (checkout.state_dir / "ray-nodes").glob("*/*")  # by installation and name
    folders = [checkout.state_dir / "state", *nodes]
    with ThreadPoolExecutor(len(folders)) as pool:
        count = sum(pool.map(_swept, folders))
    if count:
        say(f"  Stopped {count} training processes ({time.monotonic() - began:.1f} s)")


def _swept(folder: Path) -> int:
    return sweep(folder, grace_seconds=TRAINING_GRACE_SECONDS)


def sweep_containers(checkout: Checkout, *, say: Callable[[str], None]) -> None:
    """End the containers that a run which was killed left behind."""
    record = stack_record.read(checkout)
    if record and record.docker_url and ending.end(checkout, record.docker_url, say=say):
        stack_record.write(checkout, replace(record, docker_url=""))


def sweep_sockets(checkout: Checkout) -> None:
    """Remove the folder of sockets; one whose containers could not be ended still needs it."""
    record = stack_record.read(checkout)
    if record is None or not record.docker_url:
        shutil.rmtree(checkout.runtime_dir, ignore_errors=True)


def _find(record: ProcessRecord) -> psutil.Process | None:
    try:
        process = psutil.Process(record.pid)
        is_same = abs(process.create_time() - record.started_at) < SAME_START_SECONDS
    except psutil.NoSuchProcess:
        return None
    return process if is_same else None
