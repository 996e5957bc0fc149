"""What may be asked about GPU time? Query parameters, with their bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from autoscaler.gpu_accounts.reading.calendar import HOUR, Period
from autoscaler.gpu_accounts.reading.question import LONGEST_LABEL, MOST_LABELS, Dimension
from jobs.api.requests import LabelsField
from jobs.queries.curves.tables import TableFormat

LABEL: Final = "label:"
_MOST_ROWS: Final = 10_000
_YEARS: Final = range(2000, 2200)
_WORDS: Final = "|".join((*Dimension, *Period, rf"{LABEL}[^,\x00]{{1,{LONGEST_LABEL}}}"))
_MOMENT: Final = re.compile("[0-9TWZ:.+-]*")
_DAY_LENGTH: Final = len("2026-11-01")


@extend_schema_field(
    {"type": "string", "maxLength": 1000, "pattern": f"^(({_WORDS})(,({_WORDS}))*)?$"}
)
class WordsField(serializers.CharField):
    """What rows are told apart by, with commas between."""


@extend_schema_field({"type": "string", "maxLength": 40, "pattern": f"^{_MOMENT.pattern}$"})
class DayOrMomentField(serializers.CharField):
    """A day, or a moment with or without its time zone."""


class PeriodQuery(serializers.Serializer[Any]):
    """A time of whole hours, and the zone whose days and months are meant."""

    since = DayOrMomentField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        trim_whitespace=False,
        help_text="A day, or a moment: hours that begin from then on. Default: 30 days before.",
    )
    until = DayOrMomentField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        trim_whitespace=False,
        help_text="Likewise, and hours that begin before. Default, and at most: all closed hours.",
    )
    time_zone = serializers.CharField(
        required=False,
        default="UTC",
        max_length=64,
        trim_whitespace=False,
        help_text="Whose days and months, as `Europe/Berlin`; and of `since` and `until`, if they"
        " do not say theirs.",
    )

    def validate_since(self, text: str) -> datetime | None:
        return _moment(text)

    def validate_until(self, text: str) -> datetime | None:
        return _moment(text)

    def validate_time_zone(self, name: str) -> tzinfo:
        if name not in _zones():
            raise serializers.ValidationError(
                "This is no time zone. Use a name of the IANA database, as Europe/Berlin, or UTC."
            )
        return ZoneInfo(name)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Make whole hours of UTC: hours count that begin in the time."""
        for name in ("since", "until"):
            if (moment := attrs[name]) is not None:
                attrs[name] = _whole_hour(moment, attrs["time_zone"])
        since, until = attrs["since"], attrs["until"]
        if since is not None and until is not None and since >= until:
            raise serializers.ValidationError({"until": "It has to be later than since."})
        return attrs


class GpuUsageQuery(PeriodQuery):
    by = WordsField(
        required=False,
        default=Dimension.TEAM.value,
        allow_blank=True,
        max_length=1000,
        trim_whitespace=False,
        help_text="What rows are told apart by, with commas between: `team`, `user`, `pool`, `job`,"
        f" at most {MOST_LABELS} times `label:KEY`, and one of `hour`, `day` and `month`.",
    )
    team = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this team."
    )
    user = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only jobs that this person or token submitted.",
    )
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this pool."
    )
    job = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this job."
    )
    label = LabelsField(  # type: ignore[assignment] # a field takes the place of a field's title
        required=False,
        default=list,
        max_length=MOST_LABELS,
        help_text="`NAME=VALUE`, or `NAME` for any value. May be repeated: all must fit.",
    )
    limit = serializers.IntegerField(
        required=False, default=1000, min_value=1, max_value=_MOST_ROWS, help_text="Rows."
    )
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    format = serializers.ChoiceField(
        choices=[kind.value for kind in TableFormat], default=TableFormat.JSON.value
    )

    def validate_by(self, text: str) -> Sequence[str]:
        words = text.split(",") if text else []
        keys = [word.removeprefix(LABEL) for word in words if word.startswith(LABEL)]
        for word in words:
            if word not in {*Dimension, *Period} and not word.startswith(LABEL):
                raise serializers.ValidationError(
                    f"{word!r} is none of {', '.join((*Dimension, *Period))}, {LABEL}KEY."
                )
        if len(words) != len(set(words)) or "" in keys:
            raise serializers.ValidationError("Name each once, and a label with its key.")
        if len(keys) > MOST_LABELS or any(len(key) > LONGEST_LABEL for key in keys):
            raise serializers.ValidationError(
                f"At most {MOST_LABELS} labels, of {LONGEST_LABEL} characters, may be told apart."
            )
        if sum(word in set(Period) for word in words) > 1:
            raise serializers.ValidationError(f"Choose one of {', '.join(Period)}.")
        return words


def _moment(text: str) -> datetime | None:
    """Return the moment; None: it is empty."""
    found: datetime | None
    try:
        if len(text) == _DAY_LENGTH:
            found = datetime.combine(date.fromisoformat(text), time())
        else:
            found = datetime.fromisoformat(text) if text else None
    except ValueError:
        found = None
    is_written = _MOMENT.fullmatch(text) is not None
    if text and (not is_written or found is None or found.year not in _YEARS):
        raise serializers.ValidationError(
            "Write a day, as 2026-11-01, or a moment, as 2026-11-01T12:00Z."
        )
    return found


def _whole_hour(moment: datetime, zone: tzinfo) -> datetime:
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
    at = known.astimezone(UTC)
    begun = at.replace(minute=0, second=0, microsecond=0)
    return begun if begun == at else begun + HOUR


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
