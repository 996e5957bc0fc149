"""How long is everything kept? The environment says it in days; 0 means for ever."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from cluster.variables import EnvironmentVariables
from tenancy.audit.forgetting import LEAST_DAYS

from jobs.commands.removal.retention_periods import JobRetention


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """Ages after which something is removed; None: never."""

    jobs: JobRetention
    utilisation: timedelta | None
    simulations: timedelta | None
    audit: timedelta  # entries of the audit log are never kept for ever, and never short
    deliveries: timedelta | None  # to webhooks
    seconds: float  # at most, of each run; the next goes on


def read(variables: EnvironmentVariables) -> RetentionSettings:
    """Raises: BadEnvironment."""

    def days(of: str, default: int) -> timedelta | None:
        kept = number(of, default)
        return timedelta(days=kept) if kept else None

    def number(of: str, default: int) -> int:
        return variables.whole(f"CONCERTINA_KEEP_{of}_DAYS", default=default, at_least=0)

    return RetentionSettings(
        jobs=JobRetention(
            days={
                "curves": number("CURVES", 90),
                "logs": number("LOGS", 90),
                "checkpoints": number("CHECKPOINTS", 180),
                "outputs": number("OUTPUTS", 180),
                "code": number("CODE", 0),
            },
            history=days("HISTORY", 180),
            jobs=days("JOBS", 730),
        ),
        utilisation=days("UTILISATION", 30),
        simulations=days("SIMULATIONS", 90),
        audit=timedelta(
            days=variables.whole(
                "CONCERTINA_KEEP_AUDIT_DAYS", default=400, at_least=LEAST_DAYS, at_most=3650
            )
        ),
        deliveries=days("DELIVERIES", 14),
        seconds=variables.seconds("CONCERTINA_RETENTION_SECONDS", default=120.0),
    )
