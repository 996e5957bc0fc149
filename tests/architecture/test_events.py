"""Does anybody decide by what an event says? Then nobody could reword one, or forget it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("autoscaler", "jobs", "platform")
MAY_KNOW_EVENTS: Final = {
    "jobs/models/__init__.py": "it has all models",
    "jobs/changes/events.py": "writes them",
    "jobs/commands/observations/reported_events.py": "writes them, and counts them",
    "jobs/changes/numbering.py": "gives them their places",
    "jobs/queries/event_feed.py": "the API shows them",
    "platform/control_plane/api/events/stream.py": "the API shows them",
    "platform/webhooks/outbox.py": "people are told of them",
    "platform/webhooks/named.py": "people are told of them",
    "jobs/queries/histories.py": "the API shows them",
    "jobs/api/serializers/event.py": "the API shows them",
    "jobs/admin.py": "the admin shows them",
    "jobs/commands/removal/retention.py": "forgets them",
    "jobs/commands/removal/job_deletion.py": "forgets them",
    "platform/local_stack/chaos/observation/database.py": "checks what people were shown",
}


def knows_events(source: str) -> bool:
    """True if it imports the model, or names its table."""
    for node in ast.walk(ast.parse(source)):
        is_of_jobs = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jobs.m")
        if is_of_jobs and any(name.name == "Event" for name in node.names):  # type: ignore[attr-defined]
            return True
        if isinstance(node, ast.Constant) and "jobs_event" in str(node.value):
            return True
    return False


def product() -> Iterator[Path]:
    for folder in PRODUCT:
        yield from (
            path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts
        )


def test_events_are_written_shown_and_forgotten_and_decide_nothing() -> None:
    found = {str(path.relative_to(ROOT)) for path in product() if knows_events(path.read_text())}
    assert found == set(MAY_KNOW_EVENTS)


def test_whoever_asks_an_event_is_found() -> None:
    assert knows_events("from jobs.models import Event, Job")
    assert knows_events("from jobs.models.event import Event")
    assert knows_events("cursor.execute('SELECT 1 FROM jobs_event')")
    assert not knows_events("from concertina.documents import Event")
