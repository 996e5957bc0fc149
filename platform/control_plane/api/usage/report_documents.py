"""How is the report of a month written? As JSON, or as one table with a part in each line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rest_framework import serializers

from autoscaler.gpu_accounts.reading.report import MOST_ROWS
from control_plane.api.usage.documents import GpuCostsSerializer, cell
from control_plane.api.usage.receipt import MissingTimeSerializer

_LARGEST: Final = f"The {MOST_ROWS} that held most, the largest first."


class BalancedCostsSerializer(GpuCostsSerializer):
    """GPU-hours, what they cost, and what of it is to be paid."""

    balance = serializers.FloatField(
        allow_null=True, help_text="The cost without the credit: what is to be paid, if above 0."
    )


class PoolReportSerializer(BalancedCostsSerializer):
    pool = serializers.CharField()


class PersonReportSerializer(BalancedCostsSerializer):
    user = serializers.CharField(help_text="The person, or the token, that submitted the jobs.")


class JobReportSerializer(BalancedCostsSerializer):
    job = serializers.CharField()
    job_name = serializers.CharField()


class LabelReportSerializer(BalancedCostsSerializer):
    label = serializers.CharField()  # type: ignore[assignment] # it takes the place of a title
    value = serializers.CharField()


class EndedJobsSerializer(serializers.Serializer[Any]):
    """Jobs that ended in the month."""

    completed = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()


class MonthBeforeSerializer(serializers.Serializer[Any]):
    month = serializers.CharField(help_text="As 2026-11.")
    total = BalancedCostsSerializer()


class TeamMonthBeforeSerializer(MonthBeforeSerializer):
    jobs = EndedJobsSerializer()


class MonthFairnessSerializer(serializers.Serializer[Any]):
    """It says whether the team was given what it was owed, as its receipt does."""

    message = serializers.CharField()
    working_seconds = serializers.FloatField(help_text="In which it had work for its guarantee.")
    given_seconds = serializers.FloatField(help_text="Of these, in which nothing was missing.")
    missing_gpu_seconds = serializers.FloatField()
    missing = MissingTimeSerializer(many=True, help_text="By pool and cause, the largest first.")


class ReportedTimeSerializer(serializers.Serializer[Any]):
    month = serializers.CharField(help_text="As 2026-11, of UTC.")
    since = serializers.DateTimeField(help_text="From when on there are accounts of it.")
    until = serializers.DateTimeField(help_text="Up to the last hour that is closed.")
    is_over = serializers.BooleanField(help_text="All its hours are closed: it changes no more.")
    unseen_seconds = serializers.FloatField(
        help_text="For which nobody looked: what changed then was written down at the end of it."
    )


class MonthReportSerializer(ReportedTimeSerializer):
    """What a team used, lent and is charged for in a month, and how its jobs went."""

    team = serializers.CharField()
    message = serializers.CharField(help_text="The most important of it in a sentence or two.")
    total = BalancedCostsSerializer()
    jobs = EndedJobsSerializer()
    before = TeamMonthBeforeSerializer(help_text="The month before, to compare with.")
    by_pool = PoolReportSerializer(many=True)
    by_person = PersonReportSerializer(many=True, help_text=_LARGEST)
    by_job = JobReportSerializer(many=True, help_text=_LARGEST)
    by_label = LabelReportSerializer(
        many=True, help_text=f"{_LARGEST} A job with two labels is in both."
    )
    fairness = MonthFairnessSerializer()


class TeamRowSerializer(BalancedCostsSerializer):
    team = serializers.CharField(allow_null=True, help_text="null: promised to nobody.")
    jobs = EndedJobsSerializer()


class WholeMonthReportSerializer(ReportedTimeSerializer):
    """What all teams used, lent and are charged for in a month."""

    total = BalancedCostsSerializer(
        help_text="What the teams' rows add up to; as balance, what stays with the installation."
    )
    before = MonthBeforeSerializer(help_text="The month before, to compare with.")
    teams = TeamRowSerializer(many=True)
    by_pool = PoolReportSerializer(many=True)


AMOUNTS: Final = tuple(BalancedCostsSerializer().fields)


def table_of_team(report: Mapping[str, Any]) -> str:
    """Return a line for each row of the report: of which part it is, and whose."""
    return _written(("part", "name", "more"), _rows_of_team(report))


def table_of_all(report: Mapping[str, Any]) -> str:
    rows = [((row["team"] or "",), row) for row in report["teams"]]
    return _written(("team",), rows)


def _rows_of_team(
    report: Mapping[str, Any],
) -> Iterator[tuple[Sequence[str], Mapping[str, Any]]]:
    yield ("total", report["month"], ""), report["total"]
    yield ("before", report["before"]["month"], ""), report["before"]["total"]
    for part, name, more in (
        ("by_pool", "pool", ""),
        ("by_person", "user", ""),
        ("by_job", "job", "job_name"),
        ("by_label", "label", "value"),
    ):
        for row in report[part]:
            yield (part.removeprefix("by_"), row[name], row[more] if more else ""), row


def _written(
    names: Sequence[str], rows: Iterator[tuple[Sequence[str], Mapping[str, Any]]] | Sequence[Any]
) -> str:
    """Return a line for each row, in which no cell is a formula, and a first one with names."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow((*names, *AMOUNTS))
    for told, row in rows:
        lines.writerow((*map(cell, told), *(row[name] for name in AMOUNTS)))
    return written.getvalue()
