from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import typer

from concertina.input.moments import moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T12:30", datetime(2026, 11, 1, 12, 30, tzinfo=UTC)),
        ("2026-11-01T12:30:15+02:00", datetime(2026, 11, 1, 10, 30, 15, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_utc_unless_it_says_otherwise(text: str, expected: datetime) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("90m", timedelta(minutes=90)),
        ("36h", timedelta(hours=36)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(weeks=2)),
    ],
)
def test_a_moment_may_be_so_long_ago(text: str, ago: timedelta) -> None:
    before = datetime.now(UTC)
    found = moment(text)
    assert before - ago <= found <= datetime.now(UTC) - ago


@pytest.mark.parametrize("text", ["", "tomorrow", "7", "d", "-7d", "7y", "999999w", "2026-13-01"])
def test_what_is_no_moment_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="36h for so long ago"):
        moment(text)
