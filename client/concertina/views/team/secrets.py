"""What does a team's list of secrets look like? Names and dates: values never leave the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Secret


def secrets_table(secrets: Iterable[Secret]) -> FittingTable:
    table = FittingTable("NAME", "KIND", "SETS", "UPDATED", "BY", "LIVE JOBS")
    for secret in secrets:
        table.add_row(
            secret["name"],
            secret["kind"],
            secret["registry"] or ", ".join(secret["variables"]),
            words.date_time(secret["updated_at"]),
            secret["updated_by"],
            str(secret["jobs_count"]),
        )
    return table
