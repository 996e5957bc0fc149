"""What does the service do with a link that answers, is late, hangs or ends? No Ray is needed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cluster.ray_host.link.connection import with_the_reason
from cluster.ray_host.link_process import Link
from cluster.worker_host import HostUnavailable

from tests.contract.conftest import until

ECHO = ("cat",)  # answers each question with the question, and is ready when it began
NEVER_READY = ("sleep", "600")
DEAF = ("sh", "-c", 'read -r line; echo "$line"; exec sleep 600')  # ready, and then no answer
LONG: float = 60.0  # a busy machine takes its time


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def link(command: tuple[str, ...], **more: Any) -> Link:
    return Link(command=command, env={"PATH": os.environ["PATH"]}, options={}, **more)


def unavailable(one: Link, *, seconds: float = LONG) -> str:
    with pytest.raises(HostUnavailable) as caught:
        one.ask({}, seconds=seconds)
    return str(caught.value)


def test_each_of_many_questions_gets_its_own_answer() -> None:
    one = link(ECHO)
    with ThreadPoolExecutor(8) as pool:
        asked = [{"what": number, "more": "x" * number} for number in range(0, 4000, 40)]
        answers = list(pool.map(lambda row: one.ask(row, seconds=LONG), asked))
    assert [{"what": row["what"], "more": row["more"]} for row in answers] == asked
    one.close()


def test_a_question_larger_than_a_pipe_is_asked() -> None:
    one = link(ECHO)
    assert one.ask({"more": "y" * 3_000_000}, seconds=LONG)["more"] == "y" * 3_000_000
    one.close()


def test_one_that_is_killed_is_followed_by_another_at_once() -> None:
    one = link(("sh", "-c", 'echo "about to" >&2; exec cat'), clock=Clock())
    assert one.ask({"what": 1}, seconds=LONG)["what"] == 1
    first = one._conversation  # noqa: SLF001 - to kill it
    assert first is not None
    os.kill(first._process.pid, signal.SIGKILL)  # noqa: SLF001 - as above
    until(lambda: first._is_over)  # noqa: SLF001 - else the answer may be either
    assert "ended: about to" in unavailable(one)
    assert one.ask({"what": 2}, seconds=LONG)["what"] == 2
    one.close()


def test_what_rays_libraries_failed_at_is_told_and_not_where_they_were() -> None:
    frames = "i=0; while [ $i -lt 50 ]; do echo frame; i=$((i+1)); done"
    one = link(("sh", "-c", f"(echo 'core_worker.cc:1: Check failed: no node'; {frames}) >&2"))
    assert unavailable(one) == "the link to Ray ended: core_worker.cc:1: Check failed: no node"
    one.close()


def test_one_that_does_not_answer_in_time_is_killed() -> None:
    one = link(DEAF)
    first = one._current()  # noqa: SLF001 - to see its end
    first.ready.result(LONG)  # else it might be late with that
    assert "did not answer within 0.05 s" in unavailable(one, seconds=0.05)
    first.await_end()
    assert first._process.poll() == -signal.SIGKILL  # noqa: SLF001 - as above


def test_one_that_never_begins_is_waited_for_in_bounds_and_tried_less_and_less_often() -> None:
    clock = Clock()
    one = link(NEVER_READY, begin_seconds=0.0, clock=clock)
    pauses = []
    for _ in range(8):
        assert "Ray does not answer within 0 s" in unavailable(one, seconds=0.01)
        before = clock.now
        while one._conversation is None and clock() < one._not_before:  # noqa: SLF001 - the pause
            assert "Ray does not answer" in unavailable(one)
            clock.now += 0.5
        pauses.append(clock.now - before)
    assert pauses == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    one.close()


def test_while_one_begins_whoever_asks_is_told_so() -> None:
    one = link(NEVER_READY, begin_seconds=LONG)
    assert "is being made" in unavailable(one, seconds=0.01)
    one.close()


def test_one_that_cannot_get_into_the_cluster_says_why() -> None:
    said = r'read -r line; echo "{\"number\": 1, \"failed\": \"nobody is there\"}"; exec cat'
    assert unavailable(link(("sh", "-c", said))) == "nobody is there"


def test_a_program_that_is_not_there_is_named() -> None:
    assert "no-such-python" in unavailable(link(("/no-such-python",)))


def test_whoever_waits_is_told_when_it_ends() -> None:
    ends = ("sh", "-c", 'read -r line; echo "$line"; read -r line; echo "head is gone" >&2; exit 1')
    assert "head is gone" in unavailable(link(ends))


HEARD = "Failed to get cluster ID: Unauthenticated: RPC error: InvalidAuthToken"


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("token", "the token of CONCERTINA_RAY_TOKEN_FILE: it is missing"),
        ("disabled", "it has none"),
    ],
)
def test_a_token_that_is_not_taken_is_told_by_what_ray_wrote(mode: str, words: str) -> None:
    said = with_the_reason("no", heard=HEARD, environ={"RAY_AUTH_MODE": mode})
    assert words in said
    assert said.endswith(" no")
    assert with_the_reason("no", heard="busy", environ={"RAY_AUTH_MODE": mode}) == "no"
