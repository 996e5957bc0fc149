"""What does `./dev chaos` do? A stack of its own, fault after fault, and the table."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg2

from concertina.errors import ConcertinaError
from local_stack import checkout as checkouts
from local_stack.chaos import faults, table
from local_stack.chaos.containers.machines import three_machines
from local_stack.chaos.disk_and_network import namespaces
from local_stack.chaos.disk_and_network.namespaces import OwnNamespaces
from local_stack.chaos.experiment import Experiment
from local_stack.chaos.faults import IN_CONTAINERS, Component, Strike
from local_stack.chaos.measuring import ChaosResult, StrikeOutcome
from local_stack.chaos.stacks.private_stack import private_stack
from local_stack.chaos.stacks.running_stack import CannotBeHit, running_stack
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.stacks.workload import NotTraining, SubmittedTwice
from local_stack.chaos.strikes import outages
from local_stack.commands.trouble import TROUBLE, explain
from local_stack.terminal import duration

TICK_SECONDS = 1.0
VIOLATED = 1
NOT_WHOLE = "it was interrupted, and not everything was checked"


class NothingToHit(Exception):
    """Whatever was asked for cannot be hit on this machine."""


BROKEN = (
    ConcertinaError,
    NothingToHit,
    NotTraining,
    SubmittedTwice,
    psycopg2.Error,
    *TROUBLE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosOptions:
    """What a person may choose."""

    faults: int
    seed: int
    longest_seconds: float  # of a freeze and of whatever else lasts
    minutes: float | None
    only: tuple[int, ...]  # numbers of strikes; empty: all
    components: tuple[Component, ...]  # empty: all
    is_in_containers: bool
    is_on_running: bool  # on the stack that is up, and not on one of its own
    is_agreed: bool  # to that
    is_double: bool
    is_json: bool

    def strikes(self, impossible: Collection[Component]) -> tuple[Strike, ...]:
        """The strikes of the seed; components that cannot be hit on this stack are left out.

        Raises:
            NothingToHit: none is left.
        """
        usual = IN_CONTAINERS if self.is_in_containers else tuple(Component)
        possible = [one for one in self.components or usual if one not in impossible]
        if not possible:
            raise NothingToHit(f"it cannot hit {', '.join(self.components)} here")
        chosen = faults.choose(
            seed=self.seed,
            faults=self.faults,
            longest_seconds=self.longest_seconds,
            components=possible,
        )
        return tuple(one for one in chosen if not self.only or one.number in self.only)


def chaos(choice: ChaosOptions) -> int:
    """Inflict the faults; exit code 0 only if everything came back and everything held."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing may be left then, either
    try:
        result = _run(choice)
    except CannotBeHit as why:
        _say(f"It cannot be tried: {why}")
        return VIOLATED
    except TROUBLE as trouble:
        return explain(trouble)
    _print(result, choice)
    return VIOLATED if result.violations else 0


def _run(choice: ChaosOptions) -> ChaosResult:
    """Ctrl-C ends it early; what was seen until then is told, as of a run that is not whole."""
    began = time.monotonic()
    outcomes: list[StrikeOutcome] = []
    left = [NOT_WHOLE]
    with suppress(KeyboardInterrupt), _stack(choice) as stack:
        experiment = Experiment(stack, is_double=choice.is_double, say=_say)
        try:
            for outcome in experiment.run(choice.strikes([*outages.impossible(stack)])):
                outcomes.append(outcome)
                _tell(outcome)
                if choice.minutes is not None and time.monotonic() > began + choice.minutes * 60:
                    _say("The time is up.")
                    break
            left = experiment.finish()
        except BROKEN as trouble:
            left = [f"it could not go on: {trouble}"]
    return ChaosResult(
        seed=choice.seed,
        seconds=time.monotonic() - began,
        outcomes=tuple(outcomes),
        left=tuple(left),
    )


@contextmanager
def _stack(choice: ChaosOptions) -> Iterator[TargetStack]:
    if choice.is_on_running:
        if choice.is_double:
            raise CannotBeHit("--double needs a stack of its own, not --running")
        with running_stack(is_agreed=choice.is_agreed, say=_say) as stack:
            yield stack
        return
    if not choice.is_in_containers:
        own_namespaces = namespaces.enter(say=_say)
        with private_stack(
            tick_seconds=TICK_SECONDS, own_namespaces=own_namespaces, say=_say
        ) as stack:
            yield stack
        return
    keep_in = checkouts.find().state_dir / "chaos"
    with (
        three_machines(keep_in=keep_in, say=_say) as machines,
        private_stack(
            tick_seconds=TICK_SECONDS, own_namespaces=OwnNamespaces(), machines=machines, say=_say
        ) as stack,
    ):
        yield stack


def _tell(outcome: StrikeOutcome) -> None:
    for line in table.report(outcome):
        _say(line)


def _print(result: ChaosResult, choice: ChaosOptions) -> None:
    lines = [json.dumps(table.document(result), indent=2)]
    if not choice.is_json:
        lines = _summary(result, _not_tried(choice))
    for line in lines:
        sys.stdout.write(line + "\n")


def _not_tried(choice: ChaosOptions) -> str:
    if choice.is_on_running:
        return table.NOT_TRIED_ON_RUNNING
    return table.NOT_TRIED_IN_CONTAINERS if choice.is_in_containers else table.NOT_TRIED


def _summary(result: ChaosResult, not_tried: str) -> list[str]:
    message = (
        f"{result.faults} faults in {len(result.outcomes)} strikes, seed {result.seed}, in"
        f" {duration(result.seconds)}: {len(result.violations)} violations."
    )
    violations = (f"  ✗ {violation}" for violation in result.violations)
    return ["", *table.lines(result.outcomes), "", message, *violations, not_tried]


def _say(text: str) -> None:
    """Say it on standard error: only what is asked for is on standard output."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
