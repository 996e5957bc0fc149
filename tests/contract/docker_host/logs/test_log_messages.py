"""What of Docker's answer to a request for logs did the container write?"""

from __future__ import annotations

import struct

from cluster.docker_host.logs.cursors import LogCursor
from cluster.docker_host.logs.messages import Message, messages

AT = "2026-11-21T07:33:19.123456789Z"


def frame(stream: int, text: str) -> bytes:
    return struct.pack(">BxxxL", stream, len(text.encode())) + text.encode()


def test_dockers_own_words_are_no_line_of_the_container() -> None:
    """They have no moment: taken for one, they would come behind every line that follows."""
    answer = (
        frame(1, f"{AT} before\n")
        + frame(3, "Error grabbing logs: invalid character '\\x00'\n")
        + frame(2, f"{AT} after\n")
    )
    complaints: list[str] = []
    chunks = (answer[i : i + 7] for i in range(0, len(answer), 7))
    found = [one for several in messages(chunks, complain=complaints.append) for one in several]
    assert found == [
        Message(stream="stdout", at=AT, text=b"before", is_whole=True),
        Message(stream="stderr", at=AT, text=b"after", is_whole=True),
    ]
    (complaint,) = complaints
    assert complaint.startswith("Error grabbing logs: invalid character")


def copied(*texts: bytes) -> list[bytes]:
    cursor, lines = LogCursor(), list[bytes]()
    for text in texts:
        whole = text.endswith(b"\n")
        one = Message(stream="stdout", at=AT, text=text.removesuffix(b"\n"), is_whole=whole)
        lines += cursor.lines(one)
    return lines


def test_a_progress_bar_over_many_messages_is_told_by_its_states() -> None:
    pieces = [b"0 %\r10", b" %\r20 %", b"\r30 %\n", b"done\n"]
    assert copied(*pieces) == [b"0 %", b"10 %", b"30 %", b"done"]


def test_a_long_line_over_many_messages_is_kept_whole() -> None:
    assert copied(b"aa", b"bb", b"\n", b"\n", b"c\r\n") == [b"aa", b"bb", b"", b"c"]
