from __future__ import annotations

from concertina.api.answers import ServerEvent, server_events
from concertina.connection.talks.log_following import told_of_missing


def test_an_event_stream_is_split_into_its_messages() -> None:
    stream = [": keep-alive", "", "data: {", "id: a:1", "data: }", "", "event: end", "data:", ""]
    assert list(server_events(stream)) == [
        ServerEvent(name="message", data="{\n}", id="a:1"),
        ServerEvent(name="end", data=""),
    ]


def test_a_message_that_was_cut_off_is_dropped() -> None:
    assert list(server_events(["data: 1", "", "data: 2"])) == [
        ServerEvent(name="message", data="1")
    ]


def test_missing_lines_are_told_and_nothing_else() -> None:
    assert told_of_missing({"has_earlier": False, "is_trimmed": False}, tail=9) == ""
    assert "last 9 lines" in told_of_missing({"has_earlier": True, "is_trimmed": False}, tail=9)
    assert "for good" in told_of_missing({"has_earlier": False, "is_trimmed": True}, tail=9)
