"""What does a change of the workers cost, as the coordinator tells it?"""

from __future__ import annotations

from concertina_worker.coordinator import events as on
from concertina_worker.protocol import GenerationReport
from tests.worker.coordinator_story import Story, progress


def test_the_worker_that_a_change_cost_most_tells_its_cost() -> None:
    story = Story()
    story.train("a", "b")
    settle(story, "a", stall=0.1, transfer=0.4)
    settle(story, "b", stall=0.3, transfer=0.2)
    told = newest(story)
    assert (told["stall_seconds"], told["transfer_seconds"]) == (0.3, 0.4)
    assert (told["lost_steps"], told["lost_work_seconds"]) == (0, 0.0)


def test_survivors_lose_no_work() -> None:
    story = Story()
    story.train("a", "b")
    story.tell(progress("a", step=10)).lose("b").switch("a", step=11)
    settle(story, "a")
    told = newest(story)
    assert (told["lost_workers"], told["lost_steps"], told["step"]) == (["b"], 0, 11)


def test_steps_made_again_from_a_checkpoint_are_lost_work() -> None:
    story = Story()
    story.train("a", "b")
    story.tell(progress("a", step=100)).lose("a", "b")
    story.desired = {**story.desired, "attempt": 2}
    story.want("c").connect("c", attempt=2).ready("c").switch("c", step=40)
    settle(story, "c")
    assert (newest(story)["lost_steps"], newest(story)["lost_work_seconds"]) == (60, 30.0)
    assert newest(story)["lost_workers"] == ["a", "b"]

    story.want("c", "d").connect("d", attempt=2).ready("d").switch("c", "d", step=55)
    settle(story, "c")
    settle(story, "d")
    assert newest(story)["lost_workers"] == []
    assert newest(story)["lost_steps"] == 0  # counted once, although step 100 is still ahead


def test_what_survivors_know_of_lost_steps_counts_though_nobody_had_reported_them() -> None:
    story = Story()
    story.train("a", "b")
    story.tell(progress("a", step=5)).lose("a")
    generation = story.plan.generation
    story.tell(on.WorkerSwitched(worker="b", generation=generation, step=2, lost_steps=7))
    settle(story, "b")
    assert (newest(story)["step"], newest(story)["lost_steps"]) == (2, 7)

    story.want("b", "d").connect("d").ready("d").switch("b", "d", step=4)
    settle(story, "b")
    settle(story, "d")
    assert newest(story)["lost_steps"] == 0


def newest(story: Story) -> GenerationReport:
    return story.generations[-1]


def settle(story: Story, worker: str, *, stall: float = 0.0, transfer: float = 0.0) -> None:
    story.tell(
        on.WorkerSettled(
            worker=worker,
            generation=story.plan.generation,
            stall_seconds=stall,
            transfer_seconds=transfer,
        )
    )
