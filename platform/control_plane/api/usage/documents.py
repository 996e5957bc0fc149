"""How is an answer about GPU time written? In GPU-hours, as JSON or as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rest_framework import serializers

from autoscaler.gpu_accounts.reading.question import Dimension, UsageQuestion
from autoscaler.gpu_accounts.reading.usage import Costs, UsageAnswer, UsageRow
from control_plane.api.usage.query import LABEL

_MICROSECONDS: Final = 3_600_000_000  # of a GPU-hour
_DIGITS: Final = 6  # as prices have
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would calculate


class GpuHoursSerializer(serializers.Serializer[Any]):
    """GPU-hours. What is guaranteed, borrowed, reserved and idle is all there was."""

    guaranteed_gpu_hours = serializers.FloatField(help_text="Held, of the team's guarantee.")
    borrowed_gpu_hours = serializers.FloatField(help_text="Held beyond the team's guarantee.")
    lent_gpu_hours = serializers.FloatField(help_text="Of the guarantee, what others borrowed.")
    reserved_gpu_hours = serializers.FloatField(help_text="Of it, idle and never lent.")
    idle_gpu_hours = serializers.FloatField(help_text="Of it, idle; without a team: of the rest.")
    training_gpu_hours = serializers.FloatField(help_text="Held, and used to train.")
    stalled_gpu_hours = serializers.FloatField(help_text="Held while nobody trained.")
    starting_gpu_hours = serializers.FloatField(help_text="Held by workers that started.")
    lost_work_gpu_hours = serializers.FloatField(
        help_text="Training that had to be done again, perhaps of hours before."
    )


class GpuCostsSerializer(GpuHoursSerializer):
    """GPU-hours, and what they cost at the prices of their days."""

    cost = serializers.FloatField(
        allow_null=True, help_text="Of what was held; null: a part of it has no price."
    )
    credit = serializers.FloatField(allow_null=True, help_text="For what was lent, likewise.")


class LabelValuesField(serializers.DictField):
    child = serializers.CharField(allow_null=True)


class GpuUsageRowSerializer(GpuCostsSerializer):
    """What rows are not told apart by has no field."""

    hour = serializers.DateTimeField(required=False, help_text="When it began.")
    day = serializers.DateField(required=False)
    month = serializers.CharField(required=False, help_text="As 2026-11.")
    team = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="`other teams`: those of which you see no numbers, together; null: promised to"
        " nobody.",
    )
    user = serializers.CharField(required=False, allow_null=True, help_text="null: held by no job.")
    pool = serializers.CharField(required=False)
    job = serializers.CharField(required=False, allow_null=True, help_text="null: held by no job.")
    job_name = serializers.CharField(required=False, allow_null=True)
    labels = LabelValuesField(
        required=False, help_text="By key; null: without this label, or held by no job."
    )


class GpuUsageSerializer(serializers.Serializer[Any]):
    since = serializers.DateTimeField(allow_null=True, help_text="null: no hour is closed yet.")
    until = serializers.DateTimeField(allow_null=True)
    unseen_seconds = serializers.FloatField(
        help_text="For which nobody looked: what changed then was written down at the end of it."
    )
    items = GpuUsageRowSerializer(
        many=True, help_text="By time; those that held most GPU time first."
    )
    total = GpuCostsSerializer(help_text="Of all rows, also those of other pages.")
    rows = serializers.IntegerField(help_text="In all.")
    next_cursor = serializers.CharField(allow_null=True)


def hours_of(amounts: Mapping[str, int], costs: Costs) -> dict[str, float | None]:
    """Return GPU-hours and costs by the names of an answer's fields."""
    training = (
        amounts["guaranteed"] + amounts["borrowed"] - amounts["starting"] - amounts["stalled"]
    )
    named = {
        **{name: amounts[name] for name in ("guaranteed", "borrowed", "lent", "reserved", "idle")},
        "training": training,
        **{name: amounts[name] for name in ("stalled", "starting")},
        "lost_work": amounts["lost"],
    }
    hours = {f"{name}_gpu_hours": amount / _MICROSECONDS for name, amount in named.items()}
    return {**hours, "cost": _money(costs.cost), "credit": _money(costs.credit)}


def _money(amount: float | None) -> float | None:
    """What is beyond the last digit of a price is of how it was added up."""
    return None if amount is None else round(amount, _DIGITS)


def items_of(asked: UsageQuestion, found: UsageAnswer) -> list[dict[str, Any]]:
    return [_item(asked, row) for row in found.rows]


def _item(asked: UsageQuestion, row: UsageRow) -> dict[str, Any]:
    item: dict[str, Any] = {asked.period.value: row.period} if asked.period else {}
    dimensions = len(asked.dimensions)
    for dimension, value in zip(asked.dimensions, row.told, strict=False):
        item[dimension.value] = value
        if dimension is Dimension.JOB:
            item["job_name"] = row.job_name
    if asked.labels:
        item["labels"] = dict(zip(asked.labels, row.told[dimensions:], strict=True))
    return {**item, **hours_of(row.amounts, row.costs)}


def as_table(by: Sequence[str], items: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each row, in which no cell is a formula, and a first one with names."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    names = [name for word in by for name in _columns(word)]
    amounts = list(GpuCostsSerializer().fields)
    lines.writerow([*(cell(name) for name in names), *amounts])
    for item in items:
        lines.writerow(
            [*(cell(_value(item, name)) for name in names), *(item[name] for name in amounts)]
        )
    return written.getvalue()


def _columns(word: str) -> Iterator[str]:
    yield word
    if word == Dimension.JOB:
        yield "job_name"


def _value(item: Mapping[str, Any], name: str) -> str | None:
    found: str | None = (
        item["labels"][name.removeprefix(LABEL)] if name.startswith(LABEL) else item[name]
    )
    return found


def cell(value: str | None) -> str:
    """Return what a spreadsheet shows as it is, and calculates nothing from."""
    text = value or ""
    return f"'{text}" if text.startswith(_FORMULA) else text
