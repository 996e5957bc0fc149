"""Who will compute with which batch in the coming steps? All workers know the same `StepPlan`.

Samples are loaded ahead of the step that uses them, so a worker must know its shares ahead. A
change of workers or batch therefore begins some steps after it was agreed on: not earlier than
the first step for which nobody has loaded yet. Steps are counted from the beginning of the job.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from concertina_worker.samples.share import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of steps with the same batch and the same workers."""

    first_step: int  # as many steps are made before it
    batch_size: int
    workers: tuple[str, ...]  # those who compute, in rank order
    batch_limit: int | None = None  # more samples did not fit one of them at once

    def division(
        self, worker: str, *, limit: int | None, fewest: int = 1, in_step: bool = False
    ) -> Division:
        index = self.workers.index(worker) if worker in self.workers else None
        return Division(
            parts=len(self.workers), index=index, limit=limit, fewest=fewest, in_step=in_step
        )


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Segments in the order of their first steps; each lasts until the next, the last for good."""

    segments: tuple[Segment, ...]

    @classmethod
    def steady(cls, batch_size: int, *workers: str) -> StepPlan:
        """The same from now on."""
        return cls((Segment(first_step=0, batch_size=batch_size, workers=workers),))

    def at(self, step: int) -> Segment:
        """The segment of the step before which this many were made."""
        begun = [segment for segment in self.segments if segment.first_step <= step]
        return begun[-1] if begun else self.segments[0]

    def then(self, *segments: Segment) -> StepPlan:
        """Go on with these instead of what would have come then."""
        kept = tuple(
            segment for segment in self.segments if segment.first_step < segments[0].first_step
        )
        return StepPlan((*kept, *segments))

    def welcome(self, *workers: str, first_step: int) -> StepPlan:
        """Let these workers compute from this step on; they have the state now."""
        return self.then(replace(self.segments[-1], first_step=first_step, workers=workers))
