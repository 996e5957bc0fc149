"""How are numbers, durations and moments written for people?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from concertina.documents import Job, Lately, Span

NOTHING: Final = "-"
_UNITS: Final = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
_SHORT: Final = 10
_PREFIXES: Final = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))  # from, factor, letter


def duration(seconds: float | None) -> str:
    """`0.42 s`, `9.5 s`, `42 s`, `3 min 05 s`, `2 h 10 min`, `3 d 04 h`."""
    if seconds is None:
        return NOTHING
    if seconds < _SHORT:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    for size, unit, inner_size, inner_unit in _UNITS:
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // inner_size:02} {inner_unit}"
    return f"{whole} s"


def number(value: float | None) -> str:
    """Three significant digits: `0.0123`, `12.3`, `1230`, `45.6k`, `7.89M`."""
    if value is None:
        return NOTHING
    for least, factor, prefix in _PREFIXES:
        if abs(value) >= least:
            return f"{_plain(value / factor)}{prefix}"
    return _plain(value)


def size(bytes_: float) -> str:
    """`61.3 GiB`, `12.0 MiB`, `0.8 KiB`."""
    for unit, factor in (("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20)):
        if bytes_ >= factor:
            return f"{bytes_ / factor:.1f} {unit}"
    return f"{bytes_ / 2.0**10:.1f} KiB"


def files(count: int) -> str:
    """`1 file`, `12 files`."""
    return f"{count} file{'' if count == 1 else 's'}"


def jobs(count: int) -> str:
    """`1 job`, `12 jobs`."""
    return f"{count} job{'' if count == 1 else 's'}"


def speed(samples_per_second: float) -> str:
    """Return a text like `812 samples/s`; nothing while it is not known."""
    return f"{number(samples_per_second)} samples/s" if samples_per_second else NOTHING


def percent(fraction: float | None, *, places: int = 0) -> str:
    """`42 %`, `0.4 %`."""
    return NOTHING if fraction is None else f"{100 * fraction:.{places}f} %"


def moment(text: str | None) -> datetime | None:
    """The service's ISO 8601 text as a time."""
    return datetime.fromisoformat(text) if text else None


def clock_time(text: str) -> str:
    """`14:02:31` in the reader's own time zone."""
    return datetime.fromisoformat(text).astimezone().strftime("%H:%M:%S")


def date_time(text: str | None) -> str:
    """`2026-11-21 14:02:31` in the reader's own time zone."""
    if not text:
        return NOTHING
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def age(text: str | None, now: datetime | None = None) -> str:
    """Return how long ago that was."""
    then = moment(text)
    if then is None:
        return NOTHING
    return duration(max(((now or datetime.now(UTC)) - then).total_seconds(), 0.0))


def is_past(text: str | None, now: datetime | None = None) -> bool:
    """Has that moment come?"""
    then = moment(text)
    return then is not None and then <= (now or datetime.now(UTC))


def left(seconds: float | None) -> str:
    """Return a duration, but never nothing: who has something left has not ended."""
    return "under 1 s" if seconds is not None and seconds < 1 else duration(seconds)


def predicted(span: Span | None, now: datetime | None = None) -> str:
    """`in 3 min 05 s, probably 2 min 10 s to 5 min 00 s`; never `in 0 s` of what has passed."""
    if span is None:
        return NOTHING
    low, middle, high = (_until(span[place], now) for place in ("p10", "p50", "p90"))
    if low is None:
        return "later than was looked ahead"
    if high is not None and high <= 0:
        return "any moment, later than was predicted"
    if middle is None:
        return _range(low, high)
    head = f"in {duration(middle)}" if middle > 0 else "any moment"
    return f"{head}, {_range(low, high)}"


def _range(low: float, high: float | None) -> str:
    if low <= 0:
        return "from now on" if high is None else f"probably within {duration(high)}"
    until = f"to {duration(high)}" if high is not None else "or more"
    return f"probably {duration(low)} {until}"


def _until(text: str | None, now: datetime | None) -> float | None:
    """Return whole seconds; below 0: it has passed."""
    then = moment(text)
    if then is None:
        return None
    return float(round((then - (now or datetime.now(UTC))).total_seconds()))


def track_record(lately: Lately) -> str:
    """`8 of the last 10 jobs like it ended in their range`."""
    held, outcomes = lately["held"], lately["outcomes"]
    if outcomes == 1:
        return f"the last job like it {'ended' if held else 'did not end'} in its range"
    return f"{held} of the last {outcomes} jobs like it ended in their range"


def gain(share: float | None) -> str:
    """`+31 %`, `-12 %`."""
    return NOTHING if share is None else f"{round(100 * share):+d} %"


def first_line(text: str) -> str:
    """Return what of a text fits into a row of a table; `…` where more would follow."""
    first, *more = text.strip().splitlines() or [""]
    return f"{first} …" if more else first


def workers(job: Job) -> str:
    """`3`, `3→4` while a change is on, `0` while it waits."""
    training, desired = job["workers"], job["workers_desired"]
    return str(training) if training == desired else f"{training}→{desired}"


def metric(job: Job) -> str:
    """The logged metric people look at first: the loss, or whatever comes first."""
    values = job["values"]
    for name in ("loss", *sorted(values)):
        if name in values:
            return f"{name} {number(values[name])}"
    return NOTHING


def _plain(value: float) -> str:
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e+" in text else text
