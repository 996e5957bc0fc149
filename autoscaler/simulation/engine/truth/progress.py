"""How far does a job come in a given time? It has a rate for each segment of its work."""

from __future__ import annotations

from dataclasses import dataclass

from autoscaler.simulation.engine.truth.profiles import Profile, efficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSchedule:
    """The rest of a job's work with one allocation.

    A segment is (up to so many samples, samples per second).

    The rate changes only where the gradient noise does, so times and distances are exact.
    """

    segments: tuple[tuple[float, float], ...]

    def after(self, done: float, seconds: float) -> float:
        """Samples done when it has trained for so long from `done` on."""
        for until, rate in self.segments:
            if until <= done:
                continue
            needed = (until - done) / rate
            if needed >= seconds:
                return min(done + rate * seconds, until)
            done, seconds = until, seconds - needed
        return done

    def seconds_to_end(self, done: float) -> float:
        seconds = 0.0
        for until, rate in self.segments:
            if until > done:
                seconds += (until - done) / rate
                done = until
        return seconds


def rate_schedule_of(
    profile: Profile, *, samples: float, batch: int, rate: float, counts_noise: bool
) -> RateSchedule:
    """The schedule of a job that processes `rate` raw samples per second in batches of `batch`."""
    if not counts_noise or not profile.noise:
        return RateSchedule(segments=((samples, rate),))
    ends = [start for start, _ in profile.noise[1:]] + [1.0]
    return RateSchedule(
        segments=tuple(
            (end * samples, rate * efficiency(phi, base=profile.batch.base, batch=batch))
            for end, (_, phi) in zip(ends, profile.noise, strict=True)
        )
    )
