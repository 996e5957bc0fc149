"""How does the number of live jobs stay the same? Another one comes for each that has left."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from local_stack.soak.users.requests import Caller, RequestOutcome, refused, spec

FRAGILE: Final = 0.1  # of all jobs: their workers fail now and then
CANCELLED_EACH_ROUND: Final = 0.02  # chance that a person cancels one of the newest jobs
PAUSED_EACH_ROUND: Final = 0.05  # and that one is paused, or resumed again
MOST_AT_ONCE: Final = 50  # submits of a round: as many as a person's script would do
SECONDS_PER_SAMPLE: Final = 0.002


@dataclass(slots=True, kw_only=True)
class Population:
    """Submits, cancels, pauses and resumes; the seed makes the same choices."""

    caller: Caller
    jobs: int  # that are to be live
    life_seconds: float  # mean; each lives for half of it up to one and a half times
    chance: random.Random
    submitted: list[str] = field(default_factory=list)
    paused: str = ""
    trouble: list[RequestOutcome] = field(default_factory=list)  # what was refused for no reason
    cancelled: int = 0

    def look_after(self, live: int) -> None:
        """Make up for those that left, and be a person now and then."""
        missing = min(self.jobs - live, MOST_AT_ONCE)
        if missing > 0:
            self._submit(missing)
        if self.submitted and self.chance.random() < CANCELLED_EACH_ROUND:
            self._ask(self.chance.choice(self.submitted[-self.jobs :]), "cancel")
            self.cancelled += 1
        if self.paused:
            self._ask(self.paused, "resume")
            self.paused = ""
        elif self.submitted and self.chance.random() < PAUSED_EACH_ROUND:
            self.paused = self.chance.choice(self.submitted[-self.jobs :])
            self._ask(self.paused, "pause")

    def _submit(self, count: int) -> None:
        first = len(self.submitted)
        answers = self.caller.submit(self._spec(first + number) for number in range(count))
        self.trouble += refused(answers)
        self.submitted += [one.document["id"] for one in answers if one.is_good]

    def _spec(self, number: int) -> dict[str, object]:
        seconds = self.life_seconds * self.chance.uniform(0.5, 1.5)
        options = ["--samples", str(int(seconds / SECONDS_PER_SAMPLE))]
        options += ["--sample-seconds", str(SECONDS_PER_SAMPLE)]
        if self.chance.random() < FRAGILE:
            options += ["--fails-after-seconds", str(self.life_seconds)]
        return spec(
            f"soak-{number}-{self.chance.randrange(10**6)}",
            *options,
            most_workers=self.chance.choice((1, 2, 4, 8)),
            pool="default",
        )

    def _ask(self, job: str, verb: str) -> None:
        """A job that is over, or on its way, refuses; that is as it should be."""
        answer = self.caller.post(f"/jobs/{job}/{verb}", {})
        if answer.status == 0 or answer.status >= 500:  # noqa: PLR2004 - the service's own trouble
            self.trouble.append(answer)
