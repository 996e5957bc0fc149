"""What is said about schedules, in both directions?"""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from schedules import changing
from schedules.due_times import LONGEST_CRON, LONGEST_ZONE
from schedules.models import CatchUp, Overlap, RunState, ScheduleRun, TeamSchedule

_NAME: Final = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"
_WORDS_OF_SPEC: Final = (
    "A job spec, which may have an `array`. It is submitted as any other, and its `name` gets the"
    " moment behind it; it may have no `deadline`, and its `team` may be left out."
)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class SpecField(serializers.JSONField):
    """A job spec, which is checked by those who know specs."""


def _spec(**words: Any) -> SpecField:
    return SpecField(help_text=_WORDS_OF_SPEC, **words)


class CronField(serializers.CharField):
    """A cron expression with one space between its fields, whatever was between them."""

    def to_internal_value(self, data: Any) -> str:
        return " ".join(super().to_internal_value(data).split())


def _cron(**words: Any) -> serializers.CharField:
    return CronField(
        max_length=LONGEST_CRON,
        help_text="Minute, hour, day of the month, month, day of the week; no oftener than every 5"
        " minutes.",
        **words,
    )


def _time_zone(**words: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=LONGEST_ZONE,
        help_text="Of the IANA database, such as `Europe/Berlin`: in which `cron` is read.",
        **words,
    )


def _overlap(**words: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=Overlap.choices,
        help_text="While a job of it lives: `skip` the time, `allow` another beside it, or"
        " `replace` it, which cancels it.",
        **words,
    )


def _catch_up(**words: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=CatchUp.choices,
        help_text="Of times that were due while the service was away: the `last`, if it is not"
        " longer ago than `start_within`, or `none`.",
        **words,
    )


def _start_within(**words: Any) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=changing.SHORTEST_START_WITHIN,
        max_value=changing.LONGEST_START_WITHIN,
        help_text="Seconds after which a time that was due is missed.",
        **words,
    )


class ScheduleChangeBody(serializers.Serializer[Any]):
    spec = _spec(required=False)
    cron = _cron(required=False)
    time_zone = _time_zone(required=False)
    overlap = _overlap(required=False)
    catch_up = _catch_up(required=False)
    start_within = _start_within(required=False)


class ScheduleBody(serializers.Serializer[Any]):
    name = serializers.RegexField(
        _NAME,
        error_messages={
            "invalid": "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a"
            " letter."
        },
    )
    spec = _spec()
    cron = _cron()
    time_zone = _time_zone(default="UTC")
    overlap = _overlap(default=Overlap.SKIP)
    catch_up = _catch_up(default=CatchUp.LAST)
    start_within = _start_within(default=changing.USUAL_START_WITHIN)


class ScheduledJobSerializer(serializers.Serializer[Any]):
    """A job that a run became; it may be deleted by now."""

    id = serializers.CharField(source="0")
    name = serializers.CharField(source="1")


class ScheduleRunSerializer(serializers.ModelSerializer[ScheduleRun]):
    """One time that was due, or at which somebody asked for it, and what became of it."""

    due_at = serializers.DateTimeField()
    asked_by = serializers.CharField(help_text="Who asked for it; empty: it was due.")
    state = serializers.ChoiceField(choices=RunState.choices)
    message = serializers.CharField(help_text="Why there is no job; mostly empty.")
    jobs = serializers.SerializerMethodField(help_text="The first of them.")
    job_count = serializers.IntegerField(help_text="More than one of a spec with an `array`.")
    ended_at = serializers.DateTimeField(allow_null=True, help_text="null: it waits.")

    class Meta:
        model = ScheduleRun
        fields = ("due_at", "asked_by", "state", "message", "jobs", "job_count", "ended_at")
        read_only_fields = fields

    @extend_schema_field(ScheduledJobSerializer(many=True))
    def get_jobs(self, run: ScheduleRun) -> Any:
        return [{"id": job_id, "name": name} for job_id, name in run.jobs]


class ScheduleSerializer(serializers.ModelSerializer[TeamSchedule]):
    """A schedule, without its spec."""

    team = serializers.CharField(source="team.name")
    overlap = serializers.ChoiceField(choices=Overlap.choices)
    catch_up = serializers.ChoiceField(choices=CatchUp.choices)
    start_within = serializers.IntegerField(help_text="Seconds.")
    version = serializers.IntegerField(
        help_text="Counts up with each change; whoever changes it says which one they read."
    )
    holder = serializers.CharField(help_text="In whose name it submits.")
    is_paused = serializers.BooleanField()
    paused_because = serializers.CharField(help_text="Who paused it, and why; empty: it goes on.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="null: it is paused.")
    failures = serializers.IntegerField(
        help_text="Of the last runs, in a row, that were refused or failed."
    )
    last_run = ScheduleRunSerializer(allow_null=True)
    may_change = serializers.BooleanField(
        help_text="True if the caller may pause and delete it, and with `may_run` change it, too."
    )
    may_run = serializers.BooleanField(help_text="True if the caller may submit its spec.")

    class Meta:
        model = TeamSchedule
        fields: tuple[str, ...] = (
            *("id", "team", "name", "cron", "time_zone", "overlap", "catch_up", "start_within"),
            *("version", "holder", "is_paused", "paused_because", "next_at", "failures"),
            *("last_run", "may_change", "may_run", "created_at", "created_by", "changed_at"),
        )
        read_only_fields = fields


class ScheduleDetailSerializer(ScheduleSerializer):
    """A schedule with its spec and its last runs."""

    spec = SpecField()
    runs = ScheduleRunSerializer(
        many=True, source="runs_shown", help_text="The last ones, the newest first."
    )
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What to know when it was just added, changed or resumed.",
    )

    class Meta(ScheduleSerializer.Meta):
        fields = (*ScheduleSerializer.Meta.fields, "spec", "runs", "notes")


class ScheduleListSerializer(serializers.Serializer[Any]):
    items = ScheduleSerializer(many=True)
