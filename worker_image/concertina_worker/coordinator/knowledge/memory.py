"""What must a coordinator not forget when it is killed? All of it as one JSON document.

Plans are remembered before they are sent. So a coordinator that takes over knows every plan a
worker may already train by, and never gives a number twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from concertina_worker.coordinator.knowledge.reports import PendingReports
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import LONGEST_WARNING, MOST_WARNINGS, Desired


@dataclass(slots=True, kw_only=True)
class Memory:
    """The durable state."""

    start: int = 0  # how often the job came out of the queue
    attempt: int = 0
    next_generation: int = 1
    desired: Desired | None = None
    ever_desired: list[str] = field(default_factory=list)  # of this attempt
    active: GenerationPlan | None = None  # the members of this plan train
    # newer than `active`, oldest first
    published: list[GenerationPlan] = field(default_factory=list)
    trained: list[str] = field(default_factory=list)  # members of the newest active plan there was
    leavers: list[str] = field(default_factory=list)  # out of `active`, not released yet
    left_generation: int = 0  # that the leavers were in
    switched: list[str] = field(default_factory=list)  # workers that told they are in `active`
    withdrawn: int = 0  # a generation whose group could not be built
    step: int = 0  # newest committed step that was told
    step_seconds: float = 0.0  # newest known
    lost: list[str] = field(default_factory=list)  # ids are never used again
    is_finished: bool = False
    is_registered: bool = False
    is_sharded: bool = False  # each worker holds a part of the model
    model_bytes: int = 0
    noise_scale: float | None = None
    batch_limit: int | None = None  # samples that fit one worker at once, as found out
    total_samples: int | None = None
    checkpoint_step: int | None = None
    warnings: list[str] = field(default_factory=list)  # each once, in the order they were given
    reports: PendingReports = field(default_factory=PendingReports)

    @property
    def pending(self) -> GenerationPlan | None:
        """The plan that members should switch to next."""
        return self.published[-1] if self.published else None

    @property
    def active_members(self) -> tuple[str, ...]:
        return self.active.members if self.active else ()

    @property
    def planned_workers(self) -> tuple[str, ...]:
        """Members of the active plan, then those only newer plans have."""
        plans = [self.active, *self.published]
        return tuple(dict.fromkeys(worker for plan in plans if plan for worker in plan.members))

    def lower_batch_limit(self, samples: int) -> None:
        self.batch_limit = min(self.batch_limit or samples, samples)

    def note_warning(self, text: str) -> None:
        """Note it once, however many workers and attempts say it; the first ones stay."""
        warning = text[:LONGEST_WARNING]
        if warning not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(warning)

    def start_over(self, start: int) -> None:
        """All workers of the last start are gone, also those who had trained to the end."""
        self.start = start
        self.is_finished = False
        self.reports.finish_draft()
        self.forget_generation()

    def forget_generation(self) -> None:
        """Nobody who trained is left: the next generation starts from a checkpoint."""
        self.active = None
        self.published = []
        self.leavers = []
        self.switched = []

    def to_json(self) -> dict[str, Any]:
        return {
            "start": self.start,
            "attempt": self.attempt,
            "next_generation": self.next_generation,
            "desired": self.desired,
            "ever_desired": self.ever_desired,
            "active": self.active.to_json() if self.active else None,
            "published": [plan.to_json() for plan in self.published],
            "trained": self.trained,
            "leavers": self.leavers,
            "left_generation": self.left_generation,
            "switched": self.switched,
            "withdrawn": self.withdrawn,
            "step": self.step,
            "step_seconds": self.step_seconds,
            "lost": self.lost,
            "is_finished": self.is_finished,
            "is_registered": self.is_registered,
            "is_sharded": self.is_sharded,
            "model_bytes": self.model_bytes,
            "noise_scale": self.noise_scale,
            "batch_limit": self.batch_limit,
            "total_samples": self.total_samples,
            "checkpoint_step": self.checkpoint_step,
            "warnings": self.warnings,
            "reports": self.reports.to_json(),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Memory:
        active = document["active"]
        return cls(
            **{
                **document,
                "active": GenerationPlan.from_json(active) if active else None,
                "published": [GenerationPlan.from_json(plan) for plan in document["published"]],
                "reports": PendingReports.from_json(document["reports"]),
            }
        )
