"""How far does a job come in a given time? Its course: a rate for each stretch of its work."""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.simulation.engine.truth.profiles import Profile, efficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The rest of a job's work with one allocation: (up to so many samples, samples per second).

    The rate changes only where the gradient noise does, so times and distances are exact.
    """

    legs: tuple[tuple[float, float], ...]

    def after(self, done: float, seconds: float) -> float:
        """Samples done when it has trained for so long from `done` on."""
        for until, rate in self.legs:
            if until <= done:
                continue
            needed = (until - done) / rate
            if needed >= seconds:
                return min(done + rate * seconds, until)
            done, seconds = until, seconds - needed
        return done

    def seconds_to_end(self, done: float) -> float:
        seconds = 0.0
        for until, rate in self.legs:
            if until > done:
                seconds += (until - done) / rate
                done = until
        return seconds


def course_of(
    profile: Profile, *, samples: float, batch: int, rate: float, counts_noise: bool
) -> Course:
    """The course of a job that processes `rate` raw samples per second in batches of `batch`."""
    if not counts_noise or not profile.noise:
        return Course(legs=((samples, rate),))
    ends = [start for start, _ in profile.noise[1:]] + [1.0]
    return Course(
        legs=tuple(
            (end * samples, rate * efficiency(phi, base=profile.batch.base, batch=batch))
            for end, (_, phi) in zip(ends, profile.noise, strict=True)
        )
    )
