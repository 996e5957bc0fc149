from __future__ import annotations

from concertina.api.answers import ServerEvent, server_events
from concertina.connection.talks.log_following import told_of_missing


def test_an_event_stream_is_split_into_its_messages() -> None:
    lines = [": keep-alive", "", "data: {", "id: a:1", "data: }", "", "event: end", "data:", ""]
    for end in ("\n", "\r\n"):
        stream = "".join(f"{line}{end}" for line in lines).encode()
        for length in (1, 3, len(stream)):
            pieces = [stream[at : at + length] for at in range(0, len(stream), length)]
            assert list(server_events(pieces)) == [
                ServerEvent(name="message", data="{\n}", id="a:1"),
                ServerEvent(name="end", data=""),
            ]


def test_what_only_unicode_calls_the_end_of_a_line_is_none() -> None:
    text = "one\x85two\u2028three\x0bfour\x1cfive"
    assert [event.data for event in server_events([f"data: {text}\n\n".encode()])] == [text]


def test_a_message_that_was_cut_off_is_dropped() -> None:
    assert list(server_events([b"data: 1\n\ndata: 2\n"])) == [ServerEvent(name="message", data="1")]


def test_missing_lines_are_told_and_nothing_else() -> None:
    assert told_of_missing({"has_earlier": False, "is_trimmed": False}, tail=9) == ""
    assert "last 9 lines" in told_of_missing({"has_earlier": True, "is_trimmed": False}, tail=9)
    assert "for good" in told_of_missing({"has_earlier": False, "is_trimmed": True}, tail=9)
