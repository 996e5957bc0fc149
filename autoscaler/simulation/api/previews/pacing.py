"""How often does a preview make plans? As often as there is time for, whatever it replays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.workload.trace import Trace

MOST_PLANS: Final = 600  # of one replay; guessed: ten seconds, and a job of a busy week waits 8 min
_DAY: Final = 86_400.0
_SHORTEST_TICK: Final = 60.0


def paced(settings: Settings, trace: Trace) -> Settings:
    """Return the settings with so many plans, and with an end for what has none.

    Plans follow what happens, a quarter of a tick apart at least.
    """
    span = max((job.submitted_at for job in trace.jobs), default=0.0)
    return replace(
        settings,
        tick_seconds=max(4 * span / MOST_PLANS, _SHORTEST_TICK),
        horizon_seconds=2 * span + _DAY,
    )
