"""How long do files of jobs keep people waiting? Run `python -m benchmarks.job_files`.

A folder of a thousand files is packed and sent to a service of this machine, each time with another
content, and once more as it is. A process is started in that folder, as jobs are in their snapshot,
and by turns in an empty one. A job's outputs are listed: the first page, and all of them. Prints
medians in seconds on the clock, and whether the goals are met; best on an idle machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

from cluster.process_host.host import ProcessHost
from cluster.process_host.sweep import sweep
from cluster.worker_host import Labels, Launch, ProcessPhase, ProcessRole

from benchmarks.command_line.service import listening
from concertina.client import Client

_FOLDERS: Final = 20
_SEND_GOAL, _START_GOAL = 2.0, 0.2  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000, help="of the folder of code")
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concertina-job-files-") as name:
        code = Path(name) / "code"
        _fill(code, asked.files)
        rows = _starts(Path(name), code, asked.rounds)
        with listening(jobs=20) as service, Client(service.url, service.token) as client:
            rows = [*_sends(client, code, asked.rounds), *rows]
            rows += _lists(client, service.job, asked.outputs)
    for what, seconds, goal in rows:
        verdict = "" if goal is None else f"≤ {goal:g}: {'yes' if seconds <= goal else 'no'}"
        sys.stdout.write(f"{what:60} {seconds:8.3f} s  {verdict}\n")


Row = tuple[str, float, float | None]


def _fill(folder: Path, files: int) -> None:
    for number in range(files):
        file = folder / f"part-{number % _FOLDERS}" / f"module_{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(hashlib.shake_128(b"%d" % number).digest(500 + number % 9000))


def _took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _sends(client: Client, code: Path, rounds: int) -> list[Row]:
    new, known = [], []
    for number in range(rounds):
        (code / "changed.py").write_text(f"ROUND = {number}\n")
        new.append(_took(lambda: client.upload_code(code)))
        known.append(_took(lambda: client.upload_code(code)))
    files = sum(1 for path in code.rglob("*") if path.is_file())
    return [
        (f"{files} files are packed, sent and unpacked", median(new), _SEND_GOAL),
        (f"{files} files that are there already", median(known), None),
    ]


def _starts(home: Path, code: Path, rounds: int) -> list[Row]:
    """Return what it adds that a process starts in a snapshot which is there."""
    empty = home / "empty"
    empty.mkdir()
    host = ProcessHost(state_dir=home / "state")
    took: dict[Path, list[float]] = {code: [], empty: []}
    try:
        for number in range(rounds):
            for folder in (code, empty) if number % 2 else (empty, code):
                name = f"w{number}-{folder.name}"
                took[folder].append(_took(lambda: _run(host, name, folder)))  # noqa: B023 - called at once
    finally:
        sweep(home / "state", grace_seconds=0.0)
    added = median(took[code]) - median(took[empty])
    return [
        ("a process starts and ends in an empty folder", median(took[empty]), None),
        ("a snapshot that is there adds", added, _START_GOAL),
    ]


def _run(host: ProcessHost, name: str, folder: Path) -> None:
    labels = Labels(process_id=name, job_id="job", role=ProcessRole.WORKER, attempt=1, fence=1)
    command = ("sh", "-c", "ls > /dev/null")
    host.start(Launch(labels=labels, command=command, env={}, node="n1", workdir=str(folder)))
    while host.list().processes[0].phase is not ProcessPhase.EXITED:
        time.sleep(0.005)
    host.forget(name)


def _lists(client: Client, job: str, count: int) -> list[Row]:
    outputs = Path(os.environ["CONCERTINA_STATE"]) / "jobs" / job / "outputs"
    outputs.mkdir(parents=True)
    for number in range(count):
        (outputs / f"sample-{number:06}.txt").touch()
    listed = client.results(job)
    first = median(_took(lambda: next(iter(listed.outputs()))) for _ in range(5))
    whole = _took(lambda: _check(sum(1 for _ in listed.outputs()), count))
    return [
        (f"the first page of {count} outputs", first, None),
        (f"all {count} outputs", whole, None),
    ]


def _check(found: int, count: int) -> None:
    if found != count:
        raise SystemExit(f"{found} outputs were listed, of {count}.")


if __name__ == "__main__":
    main()
