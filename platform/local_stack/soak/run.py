"""What does `./dev soak` do? A stack of its own, jobs that come and go, verdicts, and a page."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis

from local_stack import checkout as checkouts
from local_stack import stack_record
from local_stack.commands.trouble import TROUBLE, explain
from local_stack.processes import embedded_valkey
from local_stack.soak import report, sample
from local_stack.soak.counting.reading import StackGauge
from local_stack.soak.measured_stack import (
    REAL_SLOTS,
    MeasuredStack,
    add_real_slots,
    contradictions,
    measured_stack,
)
from local_stack.soak.sample import Sample
from local_stack.soak.users.audience import Audience
from local_stack.soak.users.population import Population
from local_stack.soak.users.real_jobs import RealJobs
from local_stack.soak.users.requests import Caller
from local_stack.soak.verdicts import RunFacts, Verdict, verdicts

TICK_SECONDS: Final = 5.0
SLOTS_PER_JOB: Final = 3  # fewer than all of them would take, so that they share
ROUND_SECONDS: Final = 2.0  # between two looks at the population
SAMPLES: Final = 100  # at most so often is everything read
LIVES: Final = 2.5  # generations of jobs in the whole time
QUEUES: Final = ("control", "io")
FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakOptions:
    """What a person may choose."""

    jobs: int
    minutes: float
    seed: int
    report: Path | None  # where the page goes; None: beside the stack's state


@dataclass(slots=True, kw_only=True)
class _Soak:
    """Everything that goes on at once."""

    stack: MeasuredStack
    gauge: StackGauge
    population: Population
    audience: Audience
    real: RealJobs
    samples: list[Sample]
    steps_at_half: tuple[int, ...] = ()


def soak(choice: SoakOptions) -> int:
    """Run it; exit code 0 only if everything held."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _started(choice) as running:
            try:
                _watch(running, choice)
            except KeyboardInterrupt:
                _say("Interrupted: what was seen until now is told.")
            found = verdicts(running.samples, _beside(running)) if running.samples else []
            return _tell(running.samples, found, choice)
    except TROUBLE as trouble:
        return explain(trouble)


@contextmanager
def _started(choice: SoakOptions) -> Iterator[_Soak]:
    slots = SLOTS_PER_JOB * choice.jobs
    with measured_stack(slots=slots, tick_seconds=TICK_SECONDS, say=_say) as stack:
        add_real_slots(stack)
        with Caller(stack) as caller, Caller(stack) as reader:
            population = Population(
                caller=caller,
                jobs=choice.jobs + REAL_SLOTS,  # which are live, too
                life_seconds=60 * choice.minutes / LIVES,
                chance=random.Random(choice.seed),  # noqa: S311 - the same choices each time
            )
            newest = lambda: next(reversed(population.submitted), None)  # noqa: E731 - one word
            with Audience(reader, newest) as audience:
                yield _Soak(
                    stack=stack,
                    gauge=StackGauge(stack),
                    population=population,
                    audience=audience,
                    real=RealJobs.submitted(stack, caller),
                    samples=[],
                )


def _watch(running: _Soak, choice: SoakOptions) -> None:
    """Look after the jobs until the time is up, and write down what is seen."""
    began_at = time.time()
    ends_at = began_at + 60 * choice.minutes
    every = max(60 * choice.minutes / SAMPLES, ROUND_SECONDS)
    before = running.gauge.read()
    while time.time() < ends_at:
        states = running.gauge.database.counts().jobs
        running.population.look_after(sum(states.values()) - _over(states))
        time.sleep(ROUND_SECONDS)
        if time.time() < before.at + every:
            continue
        reading = running.gauge.read()
        running.samples.append(
            sample.between(
                before,
                reading,
                began_at=began_at,
                reads=running.audience.answers(),
                tasks_waiting=_tasks_waiting(running.stack),
            )
        )
        before = reading
        _say_where(running.samples[-1], choice)
        if not running.steps_at_half and reading.at > (began_at + ends_at) / 2:
            running.steps_at_half = running.real.steps()


def _over(states: Any) -> int:
    return sum(states.get(state, 0) for state in ("completed", "failed", "cancelled"))


def _tasks_waiting(stack: MeasuredStack) -> dict[str, int]:
    url = embedded_valkey.url(stack.checkout.runtime_dir)
    with redis.Redis.from_url(url) as client:
        return {name: int(client.llen(name)) for name in QUEUES}


def _beside(running: _Soak) -> RunFacts:
    steps = zip(running.real.steps(), running.steps_at_half or (0, 0), strict=True)
    record = stack_record.read(running.stack.checkout)
    return RunFacts(
        tick_seconds=TICK_SECONDS,
        contradictions=contradictions(running.stack),
        restarts=tuple(one.name for one in record.processes if one.restarts) if record else (),
        refused=tuple(map(str, running.population.trouble)),
        real_steps=tuple(now - before for now, before in steps),
    )


def _tell(samples: list[Sample], found: list[Verdict], choice: SoakOptions) -> int:
    title = f"Soak: {choice.jobs} jobs for {choice.minutes:g} minutes"
    path = choice.report or checkouts.find().state_dir / "soak.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.page(samples, found, title=title))
    sys.stdout.write("\n".join((title, *map(str, found), f"Charts: {path}")) + "\n")
    return 0 if found and all(one.holds for one in found) else FAILED


def _say_where(seen: Sample, choice: SoakOptions) -> None:
    memory = sum(seen.memory_mib.values())
    _say(
        f"{seen.seconds / 60:5.1f} of {choice.minutes:g} min: {seen.live_jobs} jobs,"
        f" {seen.reports_per_second:.0f} reports/s, {sum(seen.cores.values()):.2f} cores,"
        f" {memory:.0f} MiB"
    )


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
