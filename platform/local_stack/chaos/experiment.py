"""How does one strike follow the other? Jobs train, it strikes, all comes back and is checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from local_stack.chaos.checks import absences
from local_stack.chaos.checks.noticing import noticed_seconds
from local_stack.chaos.checks.recovery import Recovery, WaitResult
from local_stack.chaos.checks.watching import Watcher
from local_stack.chaos.faults import Strike
from local_stack.chaos.measuring import FaultOutcome, StrikeOutcome
from local_stack.chaos.observation.database import StackDatabase
from local_stack.chaos.observation.moments import OF_A_RESCALE, WITH_NEWS, Moments
from local_stack.chaos.observation.silences import Silences
from local_stack.chaos.stacks.doubles import Doubles
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.stacks.workload import ChaosWorkload, NotTraining
from local_stack.chaos.strikes import strikes
from local_stack.chaos.strikes.strikes import StrikeRecord, Target


class Experiment:
    """An experiment on a stack that is ready."""

    def __init__(self, stack: TargetStack, *, is_double: bool, say: Callable[[str], None]) -> None:
        """Tell through `say` whatever a person should know.

        Args:
            stack: where it happens.
            is_double: whether some processes of the service run twice.
            say: told what goes on.
        """
        self._is_double = is_double
        self._stack = stack
        self._say = say
        self._database = StackDatabase(stack.service())
        self._workload = ChaosWorkload(stack=stack)
        self._watcher = Watcher(stack.job_processes)
        self._doubles = Doubles(stack, say=say)
        self._silences = Silences(self._database)
        self._recovery = Recovery(
            stack=stack,
            database=self._database,
            workload=self._workload,
            watcher=self._watcher,
            doubles=self._doubles,
            silences=self._silences,
        )

    def run(self, chosen: Sequence[Strike]) -> Iterator[StrikeOutcome]:
        """Strike whenever the next outcome is asked for; `finish` belongs behind the last.

        Raises:
            NotTraining: there is nothing to strike at.
        """
        with self._watcher.watching(), ExitStack() as beside:
            if self._stack.machines is not None:
                beside.enter_context(self._silences.watching())
            if self._is_double:
                beside.enter_context(self._doubles.running())
            self._workload.keep_busy()
            self._follow()
            waited = self._settle()
            if not waited.is_back:
                raise NotTraining(f"the jobs do not train: {waited.last}")
            for strike in chosen:
                yield self._strike(strike)

    def finish(self) -> list[str]:
        """End all jobs, count all samples, and say what does not hold."""
        self._workload.end_all()
        return self._violations(self._settle())

    def _settle(self) -> WaitResult:
        nothing = StrikeRecord(targets=(), at=time.time(), over_at=time.time())
        return self._recovery.await_back(nothing, sizes={}, say=self._say)

    def _violations(self, waited: WaitResult) -> list[str]:
        found = [] if waited.is_back else [f"not back: {waited.last}"]
        return [*found, *self._recovery.violations(), *self._watcher.shared_gpus]

    def _follow(self) -> None:
        for training in self._workload.trainings.values():
            self._watcher.follow(training.record_dir)

    def _strike(self, strike: Strike) -> StrikeOutcome:
        self._workload.keep_busy()
        self._follow()
        again_before = self._steps_made_again()
        sizes = self._recovery.sizes()
        targets, is_met = self._aim(strike)
        unwell: list[float] = []

        def look() -> None:
            self._stack.look_after_machines()
            if not unwell and not self._stack.says_well():
                unwell.append(time.time())

        struck = strikes.inflict(targets, meanwhile=look)
        stood_still = list(self._while_away(struck))
        waited = self._recovery.await_back(struck, sizes=sizes, say=self._say)
        back_seconds = time.time() - struck.over_at if waited.is_back else None
        self._workload.count_strike()
        violations = self._violations(waited)
        return StrikeOutcome(
            strike=strike,
            began_at=struck.at,
            is_at_its_moment=is_met,
            faults=self._noticed(struck, unwell[0] if unwell else None),
            back_seconds=back_seconds,
            back_last=waited.last,
            standstill_seconds=self._standstill(struck),
            steps_made_again=self._steps_made_again() - again_before,
            violations=(*stood_still, *violations),
        )

    def _aim(self, strike: Strike) -> tuple[list[Target], bool]:
        """Return whom it hits, found as late as possible, and whether the moment was met."""
        if strike.moment in OF_A_RESCALE and not self._workload.has_guest:
            self._workload.change_sizes()  # so that it can leave, and another job grow
            self._follow()
            self._settle()
        targets = self._find(strike)
        with self._database.live_cursor() as cursor:
            records = [one.record_dir for one in self._workload.current()]
            moments = Moments(cursor, records)
            if strike.moment in OF_A_RESCALE or strike.moment in WITH_NEWS:
                self._workload.change_sizes()
                self._follow()
            is_met = moments.await_one(strike.moment)
        if strike.moment in OF_A_RESCALE:
            targets = self._find(strike)
        return targets, is_met

    def _find(self, strike: Strike) -> list[Target]:
        jobs = self._workload.trainings.keys()
        found = (strikes.find(fault, self._stack, jobs) for fault in strike.faults)
        return [target for target in found if target is not None]

    def _noticed(self, struck: StrikeRecord, unwell_at: float | None) -> tuple[FaultOutcome, ...]:
        facts = self._recovery.facts()
        running = self._stack.job_processes()
        return tuple(
            FaultOutcome(
                fault=target.fault,
                target=str(target),
                noticed_seconds=None
                if facts is None
                else noticed_seconds(
                    target,
                    struck,
                    stack=self._stack,
                    facts=facts,
                    running=running,
                    unwell_at=unwell_at,
                    silent_at=self._silences.began_at,
                ),
            )
            for target in struck.targets
        )

    def _while_away(self, struck: StrikeRecord) -> Iterator[str]:
        """Yield what stood still though a node alone was away."""
        if self._stack.machines is not None:
            newest = {
                one.name: self._watcher.newest_step_at(one.record_dir)
                for one in self._workload.current()
            }
            yield from absences.of(struck, newest, machines=self._stack.machines)

    def _standstill(self, struck: StrikeRecord) -> float:
        return max(
            (
                self._watcher.longest_standstill(one.record_dir, since=struck.at)
                for one in self._workload.trainings.values()
            ),
            default=0.0,
        )

    def _steps_made_again(self) -> int:
        return sum(one.record().steps_made_again for one in self._workload.trainings.values())
