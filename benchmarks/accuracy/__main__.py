"""Does training come out the same with another batch, or with batches and workers that change?

Examples are trained through the real runtime, a coordinator and workers: with the smallest batch
of their range, its geometric middle and the largest, each fixed on one worker, and with batches
and workers that switch at 25, 50 and 75 % of the training. Every setting runs with several seeds,
of weights and of the data's order; settings take turns, so that they meet the same load.

A setting is accepted when its mean differs from that of the smallest batch by less than two
standard errors of the seeds' noise, which is pooled over all settings with the task's own rule:
three seeds of one setting alone would tell little of it. A range that is not accepted is told with
what the gradient noise makes of it: every setting uses equally many samples, which bring less in a
larger batch.

    python -m benchmarks.accuracy [--seeds 3] [--task digits] [--rules linear,adascale,none]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from statistics import mean, stdev
from typing import Final

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.speed.sample_worth import RangeWorth
from concertina_worker.protocol import BatchRules, Env, ExitCode
from tests.worker.running_job import RunningJob
from tests.worker.worker_zygote import WorkerZygote

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SCRIPT: Final = Path(__file__).with_name("training.py")
LANES: Final = 2  # jobs at once
SWITCHES: Final = (0.25, 0.5, 0.75)  # of the training
LONGEST_SECONDS: Final = 600.0  # of one training
STANDARD_ERRORS: Final = 2.0  # a mean may differ by less than this
WITHIN: Final = "within"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An example, small enough to be trained many times."""

    name: str
    example: str
    epochs: int
    arguments: tuple[str, ...]
    metric: str  # as the example logs it at the end
    is_higher_better: bool
    base: int  # the batch its learning rate belongs to, and the smallest
    largest: int
    rule: str
    warmup_steps: int

    @property
    def middle(self) -> int:
        return round(math.sqrt(self.base * self.largest))


TASKS: Final = (
    Task(
        name="digits",
        example="digits_cnn.py",
        epochs=20,
        arguments=("--width", "16"),
        metric="accuracy",
        is_higher_better=True,
        base=32,
        largest=256,
        rule="linear",
        warmup_steps=40,
    ),
    Task(
        name="transformer",
        example="stdlib_transformer.py",
        epochs=3,
        arguments=("--stretches", "3000", "--length", "64", "--width", "48"),
        metric="held_out_loss",
        is_higher_better=False,
        base=16,
        largest=128,
        rule="sqrt",
        warmup_steps=40,
    ),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Batch and workers from each part of the training on."""

    name: str
    stretches: tuple[tuple[int, int], ...]  # (global batch, workers): at first, then per switch
    rule: str

    @property
    def workers(self) -> int:
        return max(workers for _, workers in self.stretches)


def settings_of(task: Task, rules: Sequence[str]) -> list[Setting]:
    """The smallest batch first: it is what the others are compared with."""
    low, middle, high = task.base, task.middle, task.largest
    switching = ((low, 1), (middle, 2), (high, 3), (middle, 2))
    return [
        Setting(f"{low}", ((low, 1),), task.rule),
        Setting(f"{middle}", ((middle, 1),), task.rule),
        Setting(f"{high}", ((high, 1),), task.rule),
        Setting(" → ".join(f"{b} on {w}" for b, w in switching), switching, task.rule),
        *(Setting(f"{high}, {rule}", ((high, 1),), rule) for rule in rules),
    ]


@dataclass(slots=True)
class Outcome:
    """What the trainings with one setting ended with."""

    values: list[float] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    noise_scales: list[float] = field(default_factory=list)  # at the end, in samples

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def standard_error(self) -> float:
        return stdev(self.values) / math.sqrt(len(self.values))


def standard_error_of_difference(outcomes: Sequence[Outcome]) -> float:
    """The standard error of a difference of two means, by the pooled variance within settings."""
    variance = mean(stdev(outcome.values) ** 2 for outcome in outcomes)
    return math.sqrt(2 * variance / len(outcomes[0].values))


def train(task: Task, setting: Setting, seed: int, zygote: WorkerZygote) -> Outcome:
    """One training from beginning to end."""
    rules: BatchRules = {
        "base": task.base,
        "lr_scaling": setting.rule,
        "lr_warmup_steps": task.warmup_steps,
        "max_per_gpu": None,
    }
    example = str(REPOSITORY / "examples" / task.example)
    arguments = ("--example", example, "--seed", str(seed), "--epochs", str(task.epochs))
    with tempfile.TemporaryDirectory() as folder:
        job = RunningJob(
            Path(folder),
            zygote,
            script=SCRIPT,
            script_arguments=(*arguments, *task.arguments),
            batch=rules,
            environment={Env.SEED: str(seed)},
        )
        with closing(job):
            _go_through(job, task, setting)
            newest, report = job.service.metrics[-1], job.service.newest
            noise = report.get("noise_scale", math.nan) if report else math.nan
    return Outcome([newest["values"][task.metric]], [newest["samples"]], [noise])


def _go_through(job: RunningJob, task: Task, setting: Setting) -> None:
    """Start all workers at once, so that a switch waits for nobody."""
    job.start_coordinator()
    names = job.start_workers(setting.workers, attempt=1)
    (first_batch, first_workers), *later = setting.stretches
    job.service.want(names[:first_workers], first_batch, new_attempt=True)
    for part, (batch, workers) in zip(SWITCHES, later, strict=False):
        is_there = _has_trained(job, task, part)
        job.wait(f"{part:.0%} are trained", is_there, seconds=LONGEST_SECONDS)
        job.service.want(names[:workers], batch)
    job.wait("the training ends", lambda: job.coordinator_code is not None, seconds=LONGEST_SECONDS)
    if set(job.exit_codes().values()) - {ExitCode.COMPLETED, ExitCode.RELEASED, None}:
        raise RuntimeError(f"a worker failed\n{job.logs()}")


def _has_trained(job: RunningJob, task: Task, part: float) -> Callable[[], bool]:
    def is_there() -> bool:
        newest = job.service.newest
        total = newest["total_samples"] if newest else None
        return total is not None and _samples_used(job, total // task.epochs) >= part * total

    return is_there


def _samples_used(job: RunningJob, epoch_length: int) -> int:
    """The samples used by the newest committed step of any worker."""
    newest = [path.read_bytes().splitlines()[-1:] for path in job.folder.glob("audit/*.jsonl")]
    steps = [json.loads(line) for lines in newest for line in lines if line.endswith(b"}")]
    last = max(steps, key=lambda step: step["step"], default=None)
    return 0 if last is None else last["epoch"] * epoch_length + last["stop"]


def run_all(tasks: Sequence[Task], rules: Sequence[str], seeds: int) -> dict[str, list[Outcome]]:
    """Run all settings of all tasks, seeds outermost; return each task's outcomes."""
    work = [
        (task, setting, seed)
        for seed in range(seeds)
        for task in tasks
        for setting in settings_of(task, rules)
    ]
    with ExitStack() as exits, ThreadPoolExecutor(LANES) as lanes:
        zygotes: SimpleQueue[WorkerZygote] = SimpleQueue()
        for _ in range(LANES):
            folder = exits.enter_context(tempfile.TemporaryDirectory())
            zygotes.put(exits.enter_context(closing(WorkerZygote(Path(folder)))))

        def one(item: tuple[Task, Setting, int]) -> Outcome:
            zygote = zygotes.get()
            try:
                return train(*item, zygote)
            finally:
                zygotes.put(zygote)

        outcomes = list(lanes.map(one, work))
    return {task.name: _by_setting(task, rules, work, outcomes) for task in tasks}


def _by_setting(
    task: Task,
    rules: Sequence[str],
    work: Sequence[tuple[Task, Setting, int]],
    outcomes: Sequence[Outcome],
) -> list[Outcome]:
    together = {setting.name: Outcome() for setting in settings_of(task, rules)}
    for (of_task, setting, _), outcome in zip(work, outcomes, strict=True):
        if of_task is task:
            together[setting.name].values += outcome.values
            together[setting.name].samples += outcome.samples
            together[setting.name].noise_scales += outcome.noise_scales
    return list(together.values())


def table(task: Task, rules: Sequence[str], outcomes: Sequence[Outcome]) -> Iterator[str]:
    settings = settings_of(task, rules)
    reference = outcomes[0]
    own = [o for s, o in zip(settings, outcomes, strict=True) if s.rule == task.rule]
    noise = standard_error_of_difference(own)
    yield f"**{task.name}** ({task.metric}, {task.rule}, {len(reference.values)} seeds)\n"
    yield "| batch | mean ± standard error | standard errors apart | | samples | noise scale |"
    yield "|---|---|---|---|---|---|"
    for setting, outcome in zip(settings, outcomes, strict=True):
        apart = errors_apart(outcome, reference, noise)
        word = "reference" if outcome is reference else verdict(task, apart)
        yield (
            f"| {setting.name} | {outcome.mean:.4f} ± {outcome.standard_error:.4f}"
            f" | {abs(apart):.1f} | {word} | {mean(outcome.samples):,.0f}"
            f" | {mean(outcome.noise_scales):,.0f} |"
        )
    is_accepted = all(verdict(task, errors_apart(o, reference, noise)) == WITHIN for o in own)
    range_ = f"\nThe range {task.base} to {task.largest} is"
    yield (
        f"{range_} accepted."
        if is_accepted
        else f"{range_} NOT accepted: {why_not(task, reference)}"
    )


def why_not(task: Task, reference: Outcome) -> str:
    """Say if the noise that the smallest batch measured explains that the range is refused."""
    noise, samples = mean(reference.noise_scales), mean(reference.samples)
    worth = RangeWorth.of(base=task.base, largest=task.largest, noise_scale=noise)
    if worth is None:
        return "and no gradient noise was measured that could tell why."
    if not worth.reaches_too_far:
        return (
            f"{worth_of_range(worth)} So the noise is not the reason: look at how the learning rate"
            " follows the batch, and at the switches."
        )
    return (
        f"{worth_of_range(worth)} So {samples:,.0f} samples in batches of {task.largest} bring what"
        f" {samples * worth.of_largest:,.0f} in batches of {task.base} do."
    )


def errors_apart(outcome: Outcome, reference: Outcome, noise: float) -> float:
    """How far the mean lies above the reference's, in standard errors; below it: negative."""
    difference = outcome.mean - reference.mean
    if noise:
        return difference / noise
    return math.copysign(math.inf, difference) if difference else 0.0


def verdict(task: Task, apart: float) -> str:
    """Better is a difference, too: such a setting is not accepted as the same training."""
    if abs(apart) < STANDARD_ERRORS:
        return WITHIN
    return "**better**" if (apart > 0) is task.is_higher_better else "**worse**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--task", choices=[task.name for task in TASKS], default=None)
    parser.add_argument("--rules", default="", help="more rules to try on the largest batch")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("a standard error takes two seeds or more")
    rules = [rule for rule in arguments.rules.split(",") if rule]
    tasks = [task for task in TASKS if arguments.task in {None, task.name}]
    began = time.monotonic()
    outcomes = run_all(tasks, rules, arguments.seeds)
    for task in tasks:
        print("\n".join(table(task, rules, outcomes[task.name])), end="\n\n")
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
