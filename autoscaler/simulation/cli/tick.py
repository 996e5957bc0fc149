"""How often are plans made where nobody says? Each minute, and less often in a long trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.plots.units import duration

if TYPE_CHECKING:
    from autoscaler.simulation.engine.workload.trace import Trace

USUAL_SECONDS: Final = 60.0
MOST_PLANS: Final = 15_000  # while jobs come; guessed: minutes of computing, a fortnight of minutes
_COARSER: Final = (120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)


def tick_for(trace: Trace) -> float:
    """Seconds between plans. The same for the same trace, however fast the machine is."""
    span = _span_seconds(trace)
    ticks = (USUAL_SECONDS, *_COARSER)
    return next((tick for tick in ticks if span / tick <= MOST_PLANS), ticks[-1])


def reason_for(tick: float, trace: Trace) -> str | None:
    """What to tell of a tick that was chosen; None where it is the usual one."""
    if tick == USUAL_SECONDS:
        return None
    return (
        f"Plans are made every {duration(tick)}, because jobs come over"
        f" {duration(_span_seconds(trace))}. On average each job waits {duration(tick / 2)} for the"
        f" next one; --tick {USUAL_SECONDS:g} makes more of them and takes longer."
    )


def _span_seconds(trace: Trace) -> float:
    times = [job.submitted_at for job in trace.jobs]
    return max(times) - min(times)
