"""What does the elastic runtime cost in each step? Against plain PyTorch and against DDP.

All contestants run the same loop on the same model: plain PyTorch and one elastic worker; two
workers of DistributedDataParallel over gloo, as it comes and at its best (with
`gradient_as_bucket_view`), and two elastic workers. Elastic ones are real: with a coordinator, a
service, control threads and reports. All stay up; they take turns of some steps, so that they meet
the same load of the machine. One thread per worker. The memory of gradients is freed with "data" by
elastic workers, and with "optimizer", by `zero_grad`, otherwise.

    python -m benchmarks.overhead [--rounds 12] [--steps 20] [--workload transformer]
        [--bucket-mib 1 --bucket-mib 25]  # two elastic workers with buckets of other sizes too
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from concertina_worker.protocol import BatchRules
from tests.worker.running_job import RunningJob, alone_environment
from tests.worker.worker_zygote import WorkerZygote

SCRIPT: Final = Path(__file__).with_name("training.py")
WORKLOADS: Final = {"convolutions": 32, "transformer": 4}  # name: global batch
TARGETS: Final = {1: 0.02, 2: 0.05}  # by workers: the most a step may be longer
LEAST_STEPS: Final = 200  # timed of each contestant; from fewer no verdict is drawn
SHORTEST_STEP_SECONDS: Final = 0.05  # of shorter steps fixed costs are a larger share
FIRST_STEPS: Final = 2  # of a turn, left out: caches are cold
WARM_UP: Final = 25  # steps before the first turn: gradient noise is measured in each of them
PARTS: Final = ("data", "forward", "backward", "optimizer")

Laps = dict[str, float]
"""Seconds of each part of a step, and of processor time ("cpu"), all threads together."""


@dataclass(slots=True, kw_only=True)
class Contestant:
    """Processes that make their steps together."""

    name: str
    workers: int
    streams: list[Any] = field(default_factory=list)
    turns: list[list[Laps]] = field(default_factory=list)

    def take_turn(self, steps: int) -> list[Laps]:
        """Let all processes make so many steps; returns those of one of them."""
        for stream in self.streams:
            stream.write(f"{steps}\n")
            stream.flush()
        laps: list[list[Laps]] = [json.loads(stream.readline()) for stream in self.streams]
        return laps[0][FIRST_STEPS:]

    @property
    def title(self) -> str:
        return f"{self.workers} x {self.name}"

    @property
    def step_seconds(self) -> list[float]:
        return [whole(laps) for turn in self.turns for laps in turn]

    @property
    def parts(self) -> Laps:
        """Median seconds of each part of a step."""
        laps = [laps for turn in self.turns for laps in turn]
        return {part: median(lap[part] for lap in laps) for part in laps[0]}


def whole(laps: Laps) -> float:
    return sum(laps[part] for part in PARTS)


class Arena:
    """Where contestants connect."""

    def __init__(self, workload: str, zygote: WorkerZygote, folder: Path, exits: ExitStack) -> None:
        self._workload = workload
        self._zygote = zygote
        self._folder = folder
        self._exits = exits
        self._listener = exits.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._listener.settimeout(60)

    def plain(self) -> Contestant:
        self._start("plain", alone_environment())
        return self._connected("plain PyTorch", workers=1)

    def distributed(self, name: str) -> Contestant:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        for rank in ("0", "1"):
            place = {"RANK": rank, "WORLD_SIZE": "2", "MASTER_PORT": str(port)}
            self._start(name, {**alone_environment(), **place, "MASTER_ADDR": "127.0.0.1"})
        return self._connected(name, workers=2)

    def elastic(self, workers: int, *, bucket_mib: int | None = None) -> Contestant:
        """An elastic contestant, with buckets of the usual size or of another."""
        name = "elastic" if bucket_mib is None else f"elastic, {bucket_mib} MiB"
        folder = self._folder / f"{workers} {name}"
        folder.mkdir()
        batch = WORKLOADS[self._workload]
        rules: BatchRules = {
            "base": batch,
            "lr_scaling": "none",
            "lr_warmup_steps": 0,
            "max_per_gpu": None,
        }
        arguments = self._arguments("elastic")
        arguments += () if bucket_mib is None else ("--bucket-mib", str(bucket_mib))
        job = RunningJob(
            folder, self._zygote, script=SCRIPT, script_arguments=arguments, batch=rules
        )
        self._exits.callback(job.close)
        job.start_coordinator()
        job.begin_attempt(workers, batch=batch)
        return self._connected(name, workers=workers)

    def _start(self, contestant: str, environment: dict[str, str]) -> None:
        argv = [str(SCRIPT), *self._arguments(contestant)]
        process = self._zygote.start(argv, environment, self._folder / f"{contestant}.log")
        self._exits.callback(process.kill)

    def _arguments(self, contestant: str) -> tuple[str, ...]:
        host, port = self._listener.getsockname()
        place = ("--address", f"{host}:{port}")
        return ("--workload", self._workload, "--contestant", contestant, *place)

    def _connected(self, name: str, *, workers: int) -> Contestant:
        contestant = Contestant(name=name, workers=workers)
        for _ in range(workers):
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                logs = [path.read_text() for path in sorted(self._folder.rglob("*.log"))]
                raise SystemExit("\n".join(logs)) from None
            stream = self._exits.enter_context(connection.makefile("rw"))
            connection.close()  # the stream keeps it open
            stream.readline()
            contestant.streams.append(stream)
        contestant.take_turn(WARM_UP)
        return contestant


def compare(workload: str, *, rounds: int, steps: int, bucket_mib: Sequence[int]) -> Iterator[str]:
    """Run all contestants in turns; yields the lines of the table."""
    with ExitStack() as exits:
        folder = Path(exits.enter_context(tempfile.TemporaryDirectory()))
        zygote = WorkerZygote(folder)
        exits.callback(zygote.close)
        arena = Arena(workload, zygote, folder, exits)
        alone = [arena.plain(), arena.elastic(1)]
        rivals = [arena.distributed(name) for name in ("DDP", "DDP with views")]
        ours = [arena.elastic(2), *(arena.elastic(2, bucket_mib=mib) for mib in bucket_mib)]
        for number in range(rounds):
            for group in (alone, [*rivals, *ours]):
                for contestant in group if number % 2 else reversed(group):
                    contestant.turns.append(contestant.take_turn(steps + FIRST_STEPS))
        for contestant in (*alone, *rivals, *ours):
            yield speed(contestant)
        for reference, contestant in [tuple(alone), *itertools.product(rivals, ours)]:
            yield from overhead(reference, contestant)


def speed(contestant: Contestant) -> str:
    seconds = contestant.step_seconds
    low, middle, high = (value * 1e3 for value in quantiles(seconds, n=4))
    tenth = quantiles(seconds, n=10)[0] * 1e3
    return (
        f"  {contestant.title:<20} median {middle:6.1f} ms, middle half {low:6.1f} to {high:6.1f},"
        f" fastest tenth {tenth:6.1f}, processor {contestant.parts['cpu'] * 1e3:6.1f}"
        f"  ({len(seconds)} steps)"
    )


def overhead(reference: Contestant, ours: Contestant) -> Iterator[str]:
    """How much longer our steps are, and where."""
    share = median(ours.step_seconds) / median(reference.step_seconds) - 1
    target = TARGETS[ours.workers]
    verdict = whats_missing(reference, ours) or ("met" if share <= target else "NOT met")
    turns = zip(reference.turns, ours.turns, strict=True)
    ratios = sorted(turn_seconds(b) / turn_seconds(a) - 1 for a, b in turns)
    theirs, own = reference.parts, ours.parts
    yield (
        f"  {ours.title} against {reference.name}: {share:+.1%} (target {target:.0%}: {verdict});"
        f" by pairs of turns: median {median(ratios):+.1%}, from {ratios[0]:+.1%} to"
        f" {ratios[-1]:+.1%}; of processor time {own['cpu'] / theirs['cpu'] - 1:+.1%}"
    )
    parts = [f"{part} {(own[part] - theirs[part]) * 1e3:+.2f}" for part in PARTS]
    yield f"    where, in ms: {', '.join(parts)}"


def whats_missing(reference: Contestant, ours: Contestant) -> str:
    """Why nothing can be said of the target; empty if it can."""
    steps = min(len(reference.step_seconds), len(ours.step_seconds))
    if steps < LEAST_STEPS:
        return f"not a valid run, {steps} steps of {LEAST_STEPS}"
    seconds = median(reference.step_seconds)
    if seconds < SHORTEST_STEP_SECONDS:
        shortest = SHORTEST_STEP_SECONDS * 1e3
        return f"not a valid run, steps of {seconds * 1e3:.0f} ms, not {shortest:.0f}"
    return ""


def turn_seconds(turn: list[Laps]) -> float:
    return median(whole(laps) for laps in turn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12, help="turns of each contestant")
    parser.add_argument("--steps", type=int, default=20, help="of a turn, that are timed")
    parser.add_argument("--workload", choices=WORKLOADS, action="append")
    parser.add_argument("--bucket-mib", type=int, action="append", default=[], metavar="N")
    arguments = parser.parse_args()
    load_before = os.getloadavg()[0]
    for workload in arguments.workload or WORKLOADS:
        print(workload)
        for line in compare(
            workload,
            rounds=arguments.rounds,
            steps=arguments.steps,
            bucket_mib=arguments.bucket_mib,
        ):
            print(line, flush=True)
    load = f"load average {load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{load}, on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
