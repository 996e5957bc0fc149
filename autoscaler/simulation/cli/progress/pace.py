"""How far are all simulations of a command, and how much longer do they take together?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from autoscaler.plots.units import duration
from autoscaler.simulation.cli.progress.remaining import ProgressSign, SimulationCourse


@dataclass(slots=True, kw_only=True)
class SimulationRate:
    """The simulations of one trace, so many of them at once."""

    labels: Sequence[str]
    jobs: int
    processes: int
    _courses: dict[str, SimulationCourse] = field(default_factory=dict)

    def note(self, label: str, sign: ProgressSign | None, now: float) -> None:
        """A simulation begins at its first sign, and is done with None."""
        course = self._courses.setdefault(label, SimulationCourse(jobs=self.jobs, began_at=now))
        if sign is None:
            course.finish(now)
        else:
            course.note(sign, now)

    def sentence(self, now: float) -> str:
        """The line that is shown."""
        total = self.jobs * len(self.labels)
        courses = self._courses.values()
        ended = sum(course.ended for course in courses)
        line = f"{100 * ended // total} %: {ended:,} of {total:,} jobs"
        if len(self.labels) > 1:
            done = sum(course.done_at is not None for course in courses)
            line += f" under {len(self.labels)} policies, {done} of them done"
        left = self.seconds_left(now)
        return line if left is None else f"{line}; about {duration(round(left))} left"

    def seconds_left(self, now: float) -> float | None:
        """None: too little has been done to tell.

        Simulations that wait for a process take as long as the others do on average.
        """
        courses = self._courses.values()
        left = [seconds for course in courses if (seconds := course.left(now)) is not None]
        if len(left) < len(courses) or not left:
            return None
        usual = (sum(left) + sum(course.took(now) for course in courses)) / len(left)
        waiting = len(self.labels) - len(left)
        running = sum(course.done_at is None for course in courses)
        at_once = max(min(self.processes, running + waiting), 1)
        return max((sum(left) + waiting * usual) / at_once, *left)
