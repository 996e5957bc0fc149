"""With which labels may a pool choose machines of a cluster? As Kubernetes and Ray write them."""

from __future__ import annotations

import re
from typing import Final

MOST_LABELS: Final = 16
LONGEST_KEY: Final = 317  # a domain of 253, a slash, and 63
LONGEST_VALUE: Final = 63
_WORD: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_KEY: Final = re.compile(rf"(?:[a-z0-9](?:[a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_WORD}")
_VALUE: Final = re.compile(_WORD)
EXAMPLE: Final = '{"concertina.io/pool": "h100"}'


def complaint_of(selector: object) -> str:
    """Say what is wrong with a selector, and what to write; empty: nothing."""
    if not isinstance(selector, dict):
        return f"Write labels with their values, such as {EXAMPLE}."
    if len(selector) > MOST_LABELS:
        return f"Write at most {MOST_LABELS} labels."
    for key, value in selector.items():
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            return f"{str(key)[:80]!r} is no label's name. Write one such as concertina.io/pool."
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            return (
                f"Label {key} needs a value of 1 to {LONGEST_VALUE} letters, digits, '-', '_' and"
                " '.', which begins and ends with a letter or a digit."
            )
    return ""


def written(selector: dict[str, str]) -> str:
    """Return it as `ray start --labels` takes it."""
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
