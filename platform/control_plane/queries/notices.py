"""What should everybody know who signs in? There are sentences, mostly none."""

from __future__ import annotations

from django.conf import settings


def current() -> list[str]:
    """Return what holds for everybody, whoever asks."""
    why = settings.CONCERTINA.worker_host.why_jobs_are_trusted
    if not why:
        return []
    return [
        (
            "Jobs run as the service's own user here: whoever may submit one can read every team's"
            f" secrets and the database. Only submit code that you trust. It is so because {why}."
        )
    ]
