"""What did the rounds find, and does it meet the targets?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from benchmarks.rescale_stall.cold import Cold
from benchmarks.rescale_stall.ours import Ours
from benchmarks.rescale_stall.timeline import Stall

CHANGES = ((1, 2), (2, 3), (3, 2), (2, 1))  # of workers, in every round
LEAST_ROUNDS = 5  # from fewer no verdict is drawn
LONGEST_SECONDS = {"small": 0.1, "large": 0.4}  # by model: targets for the median stall
LEAST_RATIO = 50.0  # by how much a cold restart's median shall be longer
MOST_STEPS = 1.0  # that the median change may cost when workers leave
SHORTEST_SECONDS = 0.001  # a shorter stall is no smaller in a ratio


class Results:
    """Stalls by contender and kind of change; details of ours."""

    def __init__(self) -> None:
        self.stalls: dict[tuple[str, str], list[Stall]] = defaultdict(list)
        self.phases: list[dict[str, float]] = []
        self.reported: list[float] = []

    def add(self, name: str, before: int, after: int, stall: Stall) -> None:
        self.stalls[name, "joining" if after > before else "leaving"].append(stall)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.stalls))

    def of(self, name: str) -> list[Stall]:
        return self.stalls[name, "joining"] + self.stalls[name, "leaving"]

    def median_seconds(self, name: str) -> float:
        return median(stall.seconds for stall in self.of(name))

    def times_ours(self, name: str) -> float:
        """How many times as long as ours the median stall is."""
        return self.median_seconds(name) / max(self.median_seconds(Ours.name), SHORTEST_SECONDS)


def verdicts(model: str, results: Results) -> Iterator[str]:
    """Say of each target that the chosen ways can tell of whether ours meets it."""
    rounds = len(results.of(Ours.name)) // len(CHANGES)
    if not rounds:
        return
    if rounds < LEAST_ROUNDS:
        yield f"  not a valid run: {rounds} of at least {LEAST_ROUNDS} rounds"
        return
    seconds, longest = results.median_seconds(Ours.name), LONGEST_SECONDS[model]
    yield _verdict(f"median stall {seconds:.3f} s", f"{longest} s", is_met=seconds <= longest)
    leaving = results.stalls[Ours.name, "leaving"]
    costs = {
        "the longer median step": median(stall.in_steps for stall in leaving),
        "the median step before": median(stall.in_steps_before for stall in leaving),
    }
    for usual, steps in costs.items():
        measured = f"leaving: longest gap less {usual}: {steps:.2f} of it"
        yield _verdict(measured, f"{MOST_STEPS:g}", is_met=steps <= MOST_STEPS)
    if results.of(Cold.name):
        ratio = results.times_ours(Cold.name)
        is_met = ratio >= LEAST_RATIO
        yield _verdict(f"cold restart {ratio:.0f} x ours", f"{LEAST_RATIO:g} x", is_met=is_met)


def _verdict(measured: str, target: str, *, is_met: bool) -> str:
    return f"  {measured} (target {target}: {'met' if is_met else 'NOT met'})"
