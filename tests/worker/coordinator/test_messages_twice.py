"""What does a coordinator make of messages that arrive twice, and late? The same plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.events import Event
from concertina_worker.coordinator.instructions import SendPlan
from concertina_worker.plan import GenerationPlan
from tests.worker.coordinator_story import Story, progress


@dataclass(slots=True)
class Echo(Story):
    """Every message comes twice, and again when the next has come."""

    before: Event | None = None

    def tell(self, *events: Event) -> Story:
        Story.tell(self, *self._echoed(events))
        return self

    def _echoed(self, events: tuple[Event, ...]) -> Iterator[Event]:
        for event in events:
            yield from (event, event)
            if self.before is not None and not isinstance(event, on.WorkerDisconnected):
                yield self.before
            is_passing = isinstance(event, on.WorkerDisconnected | on.TimePassed)
            self.before = None if is_passing else event


def life(story: Story) -> list[GenerationPlan]:
    """A job starts, grows, gets another batch, loses one, shrinks and stops; and its plans."""
    plans = dict[int, GenerationPlan]()

    def note() -> None:
        for answer in story.answers:
            if isinstance(answer, SendPlan):
                plans[answer.plan.generation] = answer.plan

    for act in (
        lambda: story.want("a", "b").connect("a", "b").ready("a", "b"),
        lambda: story.switch("a", "b"),
        lambda: story.tell(progress("a", step=5)),
        lambda: story.want("a", "b", "c").connect("c").ready("c"),
        lambda: story.switch("a", "b", "c", step=9),
        lambda: story.want("a", "b", "c", batch=64),
        lambda: story.switch("a", "b", "c", step=12),
        lambda: story.lose("b"),
        lambda: story.switch("a", "c", step=15),
        lambda: story.want("a"),
        lambda: story.switch("a", "c", step=20),
        story.want_stop,
    ):
        act()
        note()
    return list(plans.values())


def told(story: Story) -> list[dict[str, Any]]:
    kept = ("number", "workers", "global_batch_size", "step", "lost_steps", "lost_workers")
    return [{name: one[name] for name in kept} for one in story.generations]  # type: ignore[literal-required]


def test_a_job_whose_every_message_comes_twice_and_late_has_the_same_plans_and_history() -> None:
    plain, echo = Story(), Echo()
    assert life(echo) == life(plain)
    assert told(echo) == told(plain)
    assert [one["workers"] for one in told(plain)] == [
        list("ab"),
        list("abc"),
        list("abc"),
        list("ac"),
    ]
