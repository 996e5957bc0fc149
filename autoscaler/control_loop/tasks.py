"""What does Celery run for the control loop? One task, on a queue of its own, one at a time."""

from __future__ import annotations

from celery import shared_task

from autoscaler.control_loop import wakeup_flag, wiring


@shared_task(name="autoscaler.control_loop.tasks.tick", ignore_result=True)
def tick() -> bool:
    """Run one tick. Losing one does no harm: the next does all that is to be done."""
    wakeup_flag.lower_flag()
    return wiring.control_loop().run_once()
