"""One pass of the control loop: observe, reconcile, plan, check, carry out.

`run_once` is the unit of everything: Celery calls it, tests call it, and it may be killed at any
line. What it keeps in memory between passes may be lost: questions to nodes that take longer, and
what would cost much to make again (views of jobs that only wait, and what was said of them).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from cluster.following.roster import Roster
from cluster.nodes import following, silence
from cluster.nodes.asking import tell_the_cluster
from cluster.process_environments import ProcessEnvironments
from cluster.worker_host import HostUnavailable, WorkerHost
from storage.code.bounds import CodeLimits
from storage.code.paths import CodePaths
from storage.data.rules import DataRules

from autoscaler.control_loop.arriving.arrivals import DataArrivals, with_their_data
from autoscaler.control_loop.arriving.full_teams import without_room
from autoscaler.control_loop.arriving.limited_teams import held_back
from autoscaler.control_loop.arriving.other_jobs import some_may_go_on, waiting_for_others
from autoscaler.control_loop.arriving.repositories import CodeArrivals
from autoscaler.control_loop.arriving.team_budgets import TeamBudgets
from autoscaler.control_loop.carry_out import accounting
from autoscaler.control_loop.carry_out.decisions.whole_plan import apply_plan
from autoscaler.control_loop.carry_out.held_together import parts
from autoscaler.control_loop.carry_out.planning_notes import note_what_was_planned
from autoscaler.control_loop.database_timeouts import USUALLY, DatabaseTimeouts, time_limited
from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch
from autoscaler.control_loop.housekeeping.folders.held_checkpoints import hold_checkpoints
from autoscaler.control_loop.housekeeping.folders.leftovers import remove_leftovers
from autoscaler.control_loop.housekeeping.folders.unused_uploads import remove_unused_uploads
from autoscaler.control_loop.housekeeping.folders.unwanted_results import remove_unwanted_results
from autoscaler.control_loop.housekeeping.gpu_discovery import GpuDiscovery
from autoscaler.control_loop.housekeeping.homes import remove_homes
from autoscaler.control_loop.housekeeping.machine_discovery import MachineDiscovery
from autoscaler.control_loop.housekeeping.orphans import remove_orphans
from autoscaler.control_loop.housekeeping.prefetched_images import fetch_images_ahead
from autoscaler.control_loop.housekeeping.usage_watch import UsageWatch
from autoscaler.control_loop.lease import epochs
from autoscaler.control_loop.lease.exclusive import Fence, LeaseLost, exclusively
from autoscaler.control_loop.lease.orders import FencedOrders
from autoscaler.control_loop.machines.asking import (
    ask_for_machines,
    give_back_what_takes_no_work,
)
from autoscaler.control_loop.machines.one_more_node import GrowthQuestions
from autoscaler.control_loop.models import Tick, TickTotal
from autoscaler.control_loop.observation_budget import OBSERVATION_SECONDS
from autoscaler.control_loop.observe.jobs import views as observe
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.outside.garbage import rarely_collected
from autoscaler.control_loop.outside.process_table import ProcessTable
from autoscaler.control_loop.plan.deciding import Check, Planner, PoolPlans
from autoscaler.control_loop.plan.decision_document import plain
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.left_waiting import left_waiting, open_gpus
from autoscaler.control_loop.plan.planning_round import plan_what_can_be_planned
from autoscaler.control_loop.reconcile import as_they_are, reconcile, reconcile_all
from autoscaler.control_loop.tick_context import Clock, TickContext
from autoscaler.control_loop.traces import tick_spans
from autoscaler.control_loop.traces.tick_spans import TickLap
from autoscaler.gpu_accounts import owing, recording
from autoscaler.planning.decisions.plan import Plan
from autoscaler.reconciling.limits import LIMITS, TimeLimits
from jobs.admission.disk_limits import DiskLimits
from jobs.changes import demand_signal

_log = logging.getLogger(__name__)
_counted: Final = accounting.CountedLately()


@dataclass(slots=True)
class _Stopwatch:
    """Measures how long each part of a tick takes."""

    seconds: dict[str, float] = field(default_factory=dict)
    laps: list[TickLap] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)

    def lap(self, part: str) -> None:
        now = time.perf_counter() - self._began
        since = self.laps[-1].ended if self.laps else 0.0
        self.laps.append(TickLap(part=part, began=since, ended=now))
        self.seconds[part] = self.seconds.get(part, 0.0) + now - since


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLoop:
    """Everything a tick needs, passed in."""

    host: WorkerHost
    planner: Planner
    check: Check
    clock: Clock
    holder: str  # names this process
    state_dir: Path  # which the processes of jobs share
    environments: ProcessEnvironments
    limits: TimeLimits = LIMITS
    database_timeouts: DatabaseTimeouts = USUALLY
    gpu_discovery: GpuDiscovery = field(default_factory=GpuDiscovery)
    machine_discovery: MachineDiscovery = field(default_factory=MachineDiscovery)
    usage_watch: UsageWatch = field(default_factory=UsageWatch)
    team_budgets: TeamBudgets = field(default_factory=TeamBudgets)
    disk_watch: DiskWatch | None = None  # None: nobody looks at what jobs write
    disk_limits: DiskLimits = field(default_factory=DiskLimits)
    data_rules: DataRules | None = None  # None: no data may be used
    arrivals: DataArrivals = field(default_factory=DataArrivals)
    observation_seconds: float = OBSERVATION_SECONDS
    shows_other_teams: bool = True  # to teams, in what they are told of their own jobs
    code_limits: CodeLimits = field(default_factory=CodeLimits)
    code_arrivals: CodeArrivals = field(default_factory=CodeArrivals)
    growth_questions: GrowthQuestions = field(default_factory=GrowthQuestions)

    def run_once(self) -> bool:
        """One tick; False when another process is at it, or the worker host does not answer."""
        with (
            rarely_collected(),
            time_limited(self.database_timeouts),
            exclusively(holder=self.holder, now=self.clock()) as fence,
        ):
            if fence is None:
                return False
            try:
                with FencedOrders(fence=fence, state_dir=self.state_dir).giving():
                    settled = epochs.settle(fence, self.state_dir, self.clock())
                return self._tick_or_tell_why_not(settled)
            except LeaseLost as problem:
                _log.warning("No more of this tick: %s", problem, extra={"action": "tick"})
                return False

    def _tick_or_tell_why_not(self, fence: Fence) -> bool:
        roster = self._hear_the_cluster(fence)
        try:
            self._tick(fence, roster)
        except HostUnavailable as problem:
            _log.warning("No tick: %s", problem, extra={"action": "tick"})
            with fence.transaction():
                silence.close(
                    problem.silent_nodes,
                    now=self.clock(),
                    told_after=self.limits.silence_told_after,
                )
            if roster is not None:
                give_back_what_takes_no_work(roster, now=self.clock(), writing=fence.transaction)
            return False
        return True

    def _hear_the_cluster(self, fence: Fence) -> Roster | None:
        """Make nodes of its machines, and ask it for those that are wanted; None: nobody tells."""
        if (keeper := self.host.roster_keeper) is None:
            return None
        roster = following.follow(
            keeper,
            now=self.clock(),
            lost_after=timedelta(seconds=self.limits.node_lost_after),
            writing=fence.transaction,
        )
        with FencedOrders(fence=fence, state_dir=self.state_dir).giving():
            tell_the_cluster(keeper, now=self.clock(), writing=fence.transaction)
        return roster

    def _tick(self, fence: Fence, roster: Roster | None) -> None:
        orders = FencedOrders(fence=fence, state_dir=self.state_dir)
        watch, context, began_at = _Stopwatch(), self._context(orders), self.clock()
        self._observe_what_nobody_wants(context)
        seen = observe.live_jobs(context.processes, context.around)
        self.team_budgets.go_on(seen, context)
        context.arriving.update(self._arriving(seen, context, orders))
        holding = [view for view in seen if view.may_hold_gpus]
        reconciled = reconcile_all(holding, context)
        views = as_they_are({view.id: view for view in seen}, reconciled)
        context.arriving.update(held_back(views.values(), context.arriving, context))
        planned = plan_what_can_be_planned(
            with_their_data(views, context.arriving),
            context.now,
            planner=self.planner,
            check=self.check,
            lap=watch.lap,
            observation_seconds=self.observation_seconds,
            shows_others=self.shows_other_teams,
        )
        note_what_was_planned(planned, context)
        watch.lap("plan")
        applied = apply_plan(planned.decisions, views, context)
        applied_to = [decision.job_id for decision in applied]
        reconcile(observe.job_views(applied_to, context.processes, context.around), context)
        waiting = [view for view in views.values() if view.is_queued and view.id not in applied_to]
        _count([view.id for view in holding], waiting, planned.decided.plan, context)
        watch.lap("apply")
        held = _gpus_held(planned.decided, applied_to, views) if applied else {}
        has_changed = bool(reconciled or applied)
        _record(context, planned.decided, applied, held, watch, has_changed=has_changed)
        if has_changed:
            has_alarm = bool(planned.decided.alarm)
            tick_spans.tell(
                began_at=began_at,
                laps=watch.laps,
                views=views,
                applied=applied,
                has_alarm=has_alarm,
            )
        if self.host.roster_keeper is not None:
            ask_for_machines(
                planned, roster, context, planner=self.planner, questions=self.growth_questions
            )
        self._go_on_in_background(context, orders)
        if planned.puts_off or some_may_go_on(context.arriving, reconciled):
            demand_signal.announce_demand()

    def _arriving(
        self, views: Sequence[LiveJob], context: TickContext, orders: FencedOrders
    ) -> Mapping[str, StartPrerequisite]:
        """What each job lacks; its data is fetched once its code is there."""
        behind = waiting_for_others(views, context)
        next_ones = [view for view in views if view.id not in behind]
        full = without_room(next_ones, context)
        with_room = [view for view in next_ones if view.id not in full]
        code = self.code_arrivals.go_on(with_room, context, orders)
        with_code = [view for view in with_room if view.id not in code]
        return {**behind, **full, **code, **self.arrivals.go_on(with_code, context, orders)}

    def _context(self, orders: FencedOrders) -> TickContext:
        return TickContext(
            processes=ProcessTable(self.host, orders),
            clock=self.clock,
            fence=orders.fence,
            environments=self.environments,
            code=CodePaths(state_dir=self.state_dir),
            data=self.data_rules or DataRules(state_dir=self.state_dir),
            code_limits=self.code_limits,
            limits=self.limits,
            disk_limits=self.disk_limits,
        )

    def _observe_what_nobody_wants(self, context: TickContext) -> None:
        """Stop processes that no row knows, and note which nodes do not answer."""
        leftovers = remove_orphans(context)
        remove_homes(self.state_dir, self.environments)
        silent = context.processes.silent_nodes
        if not silence.concerns_anybody(silent):
            return
        told_after = self.limits.silence_told_after
        with context.fence.transaction():
            silence.note(silent, leftovers=leftovers, now=context.now, told_after=told_after)

    def _go_on_in_background(self, context: TickContext, orders: FencedOrders) -> None:
        """Go on with what no job waits for: it may take several ticks."""
        fetch_images_ahead(context)
        lighter = remove_leftovers(orders, context.now)
        remove_unused_uploads(orders, context.now)
        hold_checkpoints(orders, context.now)
        lighter |= remove_unwanted_results(orders, context.now)
        if (survey := self.host.survey) is not None:
            self.gpu_discovery.go_on(survey, context)
            self.machine_discovery.go_on(survey, context)
        if (gauge := self.host.gauge) is not None:
            self.usage_watch.go_on(gauge, context)
        if self.disk_watch is not None:
            self.disk_watch.go_on(context, lighter=lighter)


def _count(
    holding: Collection[str], waiting: Sequence[LiveJob], plan: Plan, context: TickContext
) -> None:
    for due in parts(_counted.due(holding, context.now)):
        with context.fence.transaction():
            accounting.update_gpu_seconds(due, context.now)
    with context.fence.transaction():
        accounting.sample_utilisation(waiting, context.now)
        at = recording.record(context.now)
        left = left_waiting(waiting, plan, context)
        owing.record_owed(left, open_gpus(context) if left else {}, at)


def _gpus_held(
    decided: PoolPlans, applied_to: Collection[str], views: Mapping[str, LiveJob]
) -> dict[str, tuple[int, int]]:
    """Return GPUs before and after, of each job that has any; what was not carried out stays."""
    held: dict[str, tuple[int, int]] = {}
    for one in decided.plan.decisions:
        size = views[one.job_id].spec.resources.gpus_per_worker
        before = size * (one.previous.workers if one.previous else 0)
        planned = size * (one.allocation.workers if one.allocation else 0)
        after = planned if one.job_id in applied_to else before
        if before or after:
            held[one.job_id] = (before, after)
    return held


def _record(
    context: TickContext,
    decided: PoolPlans,
    applied: Sequence[ExplainedDecision],
    held: Mapping[str, tuple[int, int]],
    watch: _Stopwatch,
    *,
    has_changed: bool,
) -> None:
    """Count what a tick did; keep it if it did anything, and an alarm when it is new."""
    alarm = decided.alarm
    if alarm:
        what = "No plan was applied" if decided.unplanned else "Alarm"
        _log.critical("%s: %s", what, alarm, extra={"action": "alarm"})
        newest = Tick.objects.order_by("-at").first()
        has_changed = has_changed or newest is None or newest.alarm != alarm
    now = context.now
    with context.fence.transaction():
        TickTotal.add(
            seconds=watch.seconds,
            changes=[one.action for one in applied],
            has_alarm=bool(alarm),
            refused=len(decided.unplanned),
        )
        if not has_changed:
            return
        Tick.objects.create(
            at=now,
            fence=context.fence.number,
            observe_seconds=watch.seconds.get("observe", 0.0),
            plan_seconds=watch.seconds["plan"],
            apply_seconds=watch.seconds["apply"],
            pools=[plain(outcome) for outcome in decided.plan.pools],
            decisions=[one.document_for_admins(decided_at=now) for one in applied],
            held=held,
            alarm=alarm,
        )
