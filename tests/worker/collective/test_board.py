"""The board on which members of a generation find each other, and who may use it."""

from __future__ import annotations

import json
import socket

import pytest

from concertina_worker.collective.store import BoardServer, RemoteBoard

TOKEN = "token of the job"


def test_members_read_what_another_has_put() -> None:
    server = BoardServer("127.0.0.1", TOKEN)
    one, other = (RemoteBoard("127.0.0.1", server.port, TOKEN) for _ in range(2))
    one.put("address", "here")
    assert other.take("address", seconds=5.0) == "here"
    assert server.board.take("address", seconds=0.0) == "here"


def test_a_stranger_with_a_wrong_token_is_turned_away() -> None:
    server = BoardServer("127.0.0.1", TOKEN)
    with pytest.raises(RuntimeError, match="the board is gone"):
        RemoteBoard("127.0.0.1", server.port, "guessed")


@pytest.mark.parametrize("token", [{}, {"token": "guessed"}, {"token": "geheimnö"}])
def test_nothing_is_taken_from_who_does_not_know_the_token(token: dict[str, str]) -> None:
    server = BoardServer("127.0.0.1", TOKEN)
    put = {"type": "put", "key": "address", "value": "elsewhere", **token}
    with socket.create_connection(("127.0.0.1", server.port), timeout=90.0) as stranger:
        stranger.sendall((json.dumps(put) + "\n").encode() * 2)
        try:
            answer = stranger.recv(100)
        except ConnectionResetError:  # the second line was not even read
            answer = b""
    assert answer == b""
    assert server.board.take("address", seconds=0.0) is None
