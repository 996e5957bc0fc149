"""Which line of a log a failure is told by."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cluster.worker_host import LogLine

from autoscaler.reconciling.assessments import last_words

TRACEBACK = ["Traceback (most recent call last):", '  File "train.py"', "    x / 0"]


def lines(*told: tuple[str, str]) -> list[LogLine]:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return [LogLine(at=at, process_id="w1", stream=stream, text=text) for stream, text in told]


def err(*texts: str) -> list[tuple[str, str]]:
    return [("stderr", text) for text in texts]


def out(*texts: str) -> list[tuple[str, str]]:
    return [("stdout", text) for text in texts]


@pytest.mark.parametrize(
    ("told", "expected"),
    {
        "an exception beats a bar without end": (
            [*err(*TRACEBACK, "ValueError: bad label"), *out("epoch 3:  61 %|######    |")],
            "ValueError: bad label",
        ),
        "what other threads say behind it does not count": (
            [*err(*TRACEBACK, "ValueError: bad label", "W: leaked semaphores"), *out("x")],
            "ValueError: bad label",
        ),
        "the last of a chain": (
            err(*TRACEBACK, "KeyError: 1", "", "During handling …", *TRACEBACK, "OSError: disk"),
            "OSError: disk",
        ),
        "a launcher's prefix": (
            err(*(f"[rank0]: {line}" for line in (*TRACEBACK, "RuntimeError: no"))),
            "RuntimeError: no",
        ),
        "no traceback": ([*err("usage: train.py [-h]"), *out("bye")], "usage: train.py [-h]"),
        "an old warning does not count": ([*err("warning"), *out(*["x"] * 30, "bye")], "bye"),
        "nothing but stdout": (out("bye", "  ", ""), "bye"),
        "colours": (
            err("\x1b[31mError:\x1b[0m no \x9b31m\u202egpu\x1b]0;mine\x07"),
            "Error: no gpu",
        ),
        "silence": ([], ""),
    }.values(),
)
def test_a_failure_is_told_by_its_exception(told: list[tuple[str, str]], expected: str) -> None:
    assert last_words.telling(lines(*told)) == expected


def test_of_many_lines_the_last_are_kept_and_long_ones_cut() -> None:
    kept = last_words.kept(lines(*out(*map(str, range(100)), "\x1b[2J" + "y" * 1000)))
    assert kept[0] == "81"
    assert kept[-1] == "y" * 499 + "…"
