"""How is a simulation carried out? By one worker, which tells how far it is and can be stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final

from autoscaler.planning.policies import PolicyRefused
from autoscaler.simulation.api import commands, limits, workloads
from autoscaler.simulation.api.commands import Signs, SimulationTakenOver, TookTooLong
from autoscaler.simulation.api.errors import SimulationError
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import execution as previews
from autoscaler.simulation.api.quota_prices import execution as quota_prices
from autoscaler.simulation.engine.comparison.comparison import Comparison, Run, replay
from autoscaler.simulation.engine.report.document import document
from autoscaler.simulation.engine.report.page import Conditions, page

logger: Final = logging.getLogger(__name__)


def run_next() -> bool:
    """Carry out the simulation that waits longest; False: none waits."""
    simulation = commands.claim()
    if simulation is None:
        return False
    try:
        _HOW[simulation.kind](simulation)
    except SimulationTakenOver:
        logger.info("Simulation %s was stopped.", simulation.pk, extra=_log(simulation, "stop"))
    except (SimulationError, PolicyRefused) as problem:
        commands.fail(simulation, str(problem))
    except TookTooLong:
        minutes = limits.MOST_SECONDS / 60
        commands.fail(simulation, f"Given up after {minutes:.0f} minutes. Simulate fewer jobs.")
    except Exception:
        logger.exception("Simulation %s broke.", simulation.pk, extra=_log(simulation, "fail"))
        commands.fail(simulation, "The simulation broke; the service's log tells more.")
    return True


def _carry_out(simulation: Simulation) -> None:
    body = simulation.request
    trace = workloads.trace_for(body)
    candidates = workloads.candidates_for(body)
    if body["trace"]["kind"] == "uploaded":
        workloads.check_all_can_end(trace, candidates)
    signs = Signs(simulation, total=len(trace.jobs) * len(candidates))
    runs: list[Run] = []
    for candidate in candidates:
        run = replay(trace, candidate, clock=perf_counter, on_progress=signs.after(len(runs)))
        runs.append(run)
    gpus = max(candidate.gpus for candidate in candidates)
    comparison = Comparison(trace=simulation.title, gpus=gpus, runs=tuple(runs))
    html = page(comparison, conditions=_conditions(simulation))
    commands.complete(simulation, result=document(comparison), html=html)


_HOW: Final[Mapping[str, Callable[[Simulation], None]]] = {
    Simulation.Kind.WORKLOAD: _carry_out,
    Simulation.Kind.QUOTA_PREVIEW: previews.carry_out,
    Simulation.Kind.QUOTA_PRICE: quota_prices.carry_out,
}


def _conditions(simulation: Simulation) -> Conditions:
    body = simulation.request
    return (
        ("pool", body["pool"]),
        ("change", workloads.change_name(body) or "none"),
        ("a decision every", f"{body['tick_seconds']:g} s"),
        ("a rescale", f"stalls {body['stall_seconds']:g} s"),
        ("seed", str(body["seed"])),
        ("asked for by", simulation.requested_by),
    )


def _log(simulation: Simulation, action: str) -> dict[str, str]:
    return {"action": f"simulation_{action}", "simulation": simulation.pk}
