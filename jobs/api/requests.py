"""What may a request about jobs say? Query parameters and small bodies, with their bounds."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from jobs.api import json_types
from jobs.lifecycle import JobState
from jobs.queries.listing.filters import MOST_LABELS
from jobs.queries.listing.pages import JobOrder

_STATE: Final = "|".join(JobState)
_LONGEST_LABEL: Final = 4200  # a name, and a value as long as a spec's may be
_MOST_UNKNOWN, _LONGEST_NAME = 20, 100  # of what a request has and nobody knows, as it is told
ASKED_BY_ONE: Final = (
    *("search", "cursor", "pool", "user", "label", "array", "schedule", "since", "until", "count"),
)
"""Which parameters of a list make it a question that hardly two ask at once?"""


@extend_schema_field({"type": "string", "pattern": f"^ *({_STATE})?( *, *({_STATE})?)* *$"})
class StatesField(serializers.CharField):
    """States with commas between them; validated it is a list, empty when none was given."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        states = [part.strip() for part in text.split(",") if part.strip()]
        unknown = [state for state in states if state not in set(JobState)]
        if unknown:
            raise serializers.ValidationError(
                f"{unknown[0]!r} is not a state. Use: {', '.join(JobState)}."
            )
        return states


class LabelsField(serializers.ListField):
    """`NAME=VALUE` or `NAME`; validated, pairs of a name and a value, None where any will do.

    One that is empty, as a form sends it, asks for nothing.
    """

    child = serializers.CharField(max_length=_LONGEST_LABEL, allow_blank=True)

    def to_internal_value(self, data: Any) -> Any:
        given = filter(None, super().to_internal_value(data))
        parts = [text.partition("=") for text in given]
        return [(name, value if equals else None) for name, equals, value in parts]


@extend_schema_field({"type": "string", "format": "date-time", "pattern": "^[0-9TZ:.+-]+$"})
class MomentField(serializers.DateTimeField):
    """A moment with its time zone."""


class JobListQuery(serializers.Serializer[Any]):
    team = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Only this team's jobs."
    )
    state = StatesField(
        required=False, default="", allow_blank=True, help_text="States, separated by commas."
    )
    pool = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only this pool's jobs: those there, and those that wait and may start there.",
    )
    user = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only what this person or token submitted.",
    )
    label = LabelsField(  # type: ignore[assignment] # a field takes the place of a field's title
        required=False,
        default=list,
        max_length=MOST_LABELS,
        help_text="`NAME=VALUE`, or `NAME` for any value. May be repeated: all must fit.",
    )
    array = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only trials of this array, by its id or its name.",
    )
    schedule = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only what this schedule submitted, by its id or its name.",
    )
    search = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Part of the name or a label, or id.",
    )
    since = MomentField(
        required=False,
        default=None,
        help_text="None before this moment, by what the list is ordered by.",
    )
    until = MomentField(
        required=False, default=None, help_text="None from this moment on, likewise."
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)
    order = serializers.ChoiceField(
        choices=[one.value for one in JobOrder],
        required=False,
        default=JobOrder.SUBMITTED.value,
        help_text="`submitted`: the newest first; `finished`: those that have ended, the last"
        " first; `recent`: first those that have not ended, the newest first, then the others, the"
        " last that ended first (and `since` and `until` are about the end).",
    )
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    count = serializers.BooleanField(
        required=False, default=False, help_text="Say how many there are in all, too."
    )


class SparklineQuery(serializers.Serializer[Any]):
    team = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Only this team's jobs."
    )
    state = StatesField(
        required=False, default="", allow_blank=True, help_text="States, separated by commas."
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=100)
    points = serializers.IntegerField(
        required=False, default=60, min_value=2, max_value=200, help_text="At most so many of each."
    )


class EventQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=2**63 - 1, help_text="An event's id."
    )


class MetricQuery(serializers.Serializer[Any]):
    points = serializers.IntegerField(
        required=False, default=500, min_value=1, max_value=5000, help_text="At most so many."
    )
    since = MomentField(required=False, help_text="None before this moment.")
    until = MomentField(required=False, help_text="None after this moment.")


class UsageQuery(MetricQuery):
    worker = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        help_text="Only this worker; without it, all of them together.",
    )


class ReasonBody(serializers.Serializer[Any]):
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=500, help_text="For the record."
    )


class ValidationQuery(serializers.Serializer[Any]):
    outlook = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also say what would become of the job if it were submitted now.",
    )


class CancelQuery(serializers.Serializer[Any]):
    tree = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Cancel also what waits for it (`depends_on`), what waits for that, and so on.",
    )


def traceparent(request: Request) -> str:
    """Return the header by which a caller says whose trace goes on here; empty: there is none."""
    return str(request.headers.get("traceparent", ""))


def query(request: Request, form: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """Return the request's checked query parameters; one without a value counts as given.

    One that nobody knows is refused: a misspelt filter would otherwise answer with everything.
    """
    given, checks = request.query_params, form()
    know_parameters(request, checks.fields)
    repeated = {
        name: given.getlist(name)
        for name, field in checks.fields.items()
        if name in given and isinstance(field, serializers.ListField)
    }
    return _checked(form(data={**given.dict(), **repeated}))


def know_parameters(request: Request, known: Collection[str]) -> None:
    """Raises: ValidationError, for a query parameter that is none of these."""
    _refuse_unknown(request.query_params, known, "parameter")


class KnownFieldsMixin:
    """Refuses what it has no field for."""

    fields: Any

    def to_internal_value(self, data: Any) -> Any:
        _refuse_unknown(data if isinstance(data, dict) else (), self.fields, "field")
        return super().to_internal_value(data)  # type: ignore[misc]  # of the serializer beside it


def body(request: Request, form: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """Return the request's checked body."""
    given = form(data=request.data)
    json_types.check(given)
    return _checked(given)


def _checked(form: serializers.Serializer[Any]) -> dict[str, Any]:
    form.is_valid(raise_exception=True)
    checked: dict[str, Any] = form.validated_data
    return checked


def _refuse_unknown(names: Iterable[Any], known: Collection[str], kind: str) -> None:
    unknown = [str(name)[:_LONGEST_NAME] for name in names if name not in known]
    if unknown:
        told = {name: _hint(name, known, kind) for name in unknown[:_MOST_UNKNOWN]}
        raise serializers.ValidationError(told)


def _hint(name: str, known: Collection[str], kind: str) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"Did you mean {near[0]}?" if near else f"Use: {', '.join(known)}."
    return f"This is no {kind} here. {advice}"
