"""How is the vocabulary of jobs written down elsewhere? As a page of docs, as labels on screen.

`make openapi` writes both; a test holds them to `autoscaler.job_vocabulary`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from autoscaler.job_vocabulary import EventKind, JobReason

ROOT: Final = Path(__file__).parents[2]

_PAGE: Final = """\
<!-- Written by `make openapi` from autoscaler/job_vocabulary.py. -->

# Events and reasons

What happened to a job, and why: in `concertina describe JOB`, `GET /api/v1/jobs/ID/events`, and
the `reason` of jobs, of generations and of explanations. The codes are for programs and keep their
meaning; a new release may bring new ones, so a program should get over one that it does not know.
What stands before the colon is what the dashboard shows.

`GET /api/v1/events` has the events of all jobs that the caller sees, in the order in which they
came to be known: whoever goes on with `after` set to the `next` of the page before misses none and
is told none twice. `GET /api/v1/events/stream` sends them as they happen, as server-sent events; a
browser's `EventSource` goes on by itself after a break, any other client by `Last-Event-ID`.
`team`, `kind` and `job` say of what:

```console
$ curl -N -H "Authorization: Bearer $CONCERTINA_TOKEN" \\
    "$CONCERTINA_URL/api/v1/events/stream?kind=state_changed"
```

Events that an installation had before it was upgraded to a release with this feed are with their
jobs only. The events of a job go with it when it is deleted: whoever has not read them by then
misses them.

## Events

| `kind` | what happened |
|---|---|
{kinds}

## Reasons

| `reason` | why |
|---|---|
{reasons}
"""
_LABELS: Final = """\
/** What a screen says for each code. `make openapi` writes it from autoscaler/job_vocabulary.py. */

import type {{ EventKind, JobReason }} from "./types";

export const EVENT_LABELS: Readonly<Record<EventKind, string>> = {{
{kinds}
}};

export const REASON_LABELS: Readonly<Record<JobReason, string>> = {{
{reasons}
}};
"""


@functools.cache
def written() -> Mapping[Path, str]:
    """Each file with what should stand in it."""
    return {
        ROOT / "docs/jobs/events.md": _PAGE.format(
            kinds=_rows(EventKind), reasons=_rows(JobReason)
        ),
        ROOT / "frontend/src/api/vocabulary.ts": _LABELS.format(
            kinds=_labels(EventKind), reasons=_labels(JobReason)
        ),
    }


def _rows(words: Iterable[EventKind | JobReason]) -> str:
    return "\n".join(
        f"| `{word}` | **{word.label}**{word.sentence[len(word.label) :]} |" for word in words
    )


def _labels(words: Iterable[EventKind | JobReason]) -> str:
    return "\n".join(f'  {word}: "{word.label}",' for word in words)


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
