"""What does a log line look like? A sentence for people, then `name=value` pairs for machines.

`logger.info("Job %s was accepted.", job_id, extra={"action": "submit", "job_id": job_id})` gives
`2026-11-21T07:33:19.123Z INFO jobs Job 7kq… was accepted. action=submit job_id=7kq…`.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

_OWN_FIELDS: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "request",  # of Django's own loggers: an object, and the sentence has it all
}


class SentenceFormatter(logging.Formatter):
    """Writes a record as a sentence and its extra fields as pairs."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds")
        line = f"{at.replace('+00:00', 'Z')} {record.levelname} {record.name} {record.getMessage()}"
        pairs = [f"{name}={_quoted(value)}" for name, value in sorted(_extras(record).items())]
        text = " ".join([line, *pairs])
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


class WithoutStacks(logging.Filter):
    """Keeps what beat says of a task that cannot be sent to one line.

    Celery adds two stacks, the same each time, for every task that is due: a gigabyte a day while
    the broker is away.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg.startswith("Message Error") and isinstance(record.args, tuple):
            record.msg, record.args = "A task cannot be sent: %s", record.args[:1]
            record.exc_info = None
        return True


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _OWN_FIELDS}


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text or any(c in text for c in ' "=\n') else text


CONFIGURATION: Final = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"without_stacks": {"()": WithoutStacks}},
    "formatters": {"sentence": {"()": SentenceFormatter}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "sentence"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "celery.beat": {"filters": ["without_stacks"]},
        "django.request": {"level": "ERROR"},  # a refused request is no trouble of ours
        "django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
