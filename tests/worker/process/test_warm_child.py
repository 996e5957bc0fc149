"""What reaches a warm child, and what is left open when it makes no sense."""

from __future__ import annotations

import os
import socket

import pytest

from concertina_worker.process import warm_child


@pytest.mark.parametrize("line", [b"no JSON\n", b'{"not": "whole'])
def test_descriptors_of_a_request_that_makes_no_sense_are_closed(line: bytes) -> None:
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    with ours, theirs, os.fdopen(reader) as output:
        socket.send_fds(ours, [line], [writer, writer])
        os.close(writer)
        ours.shutdown(socket.SHUT_WR)
        with pytest.raises(ValueError, match=r"not a whole request|Expecting value"):
            warm_child.receive(theirs)
        os.set_blocking(reader, False)
        assert output.read() == "", "the pipe's end: nobody has it open for writing"
