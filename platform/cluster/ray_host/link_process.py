"""How does the service ask what only a process with Ray in it can? It keeps one, and doubts it.

Ray ends the process that it is loaded in when its head is gone for long, and may never come back
from a call. So it lives in a child of ours, the *link*: lines of JSON there and back, a deadline
for each question. One that passes costs the link its life, and the next question begins another.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from itertools import count
from typing import IO, Any, Final

from autoscaler.backoff import Backoff
from cluster.ray_host.link.connection import with_the_reason
from cluster.worker_host import HostUnavailable

# Guessed, between two links that come to nothing.
_BETWEEN_LINKS: Final = Backoff(first_seconds=1.0, longest_seconds=30.0)
_LAST_WORDS: Final = 30  # lines of what it wrote before it ended
_LONGEST_WORDS: Final = 1000
_FATAL: Final = "Check failed"  # Ray's libraries say so, and then forty lines of where they were
_SEE_OFF_SECONDS: Final = 5.0

Row = dict[str, Any]


class _LinkEnded(Exception):
    """The link is not there any more, for this reason."""


class _Conversation:
    """One link, from its beginning to its end."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], options: Row) -> None:
        """Raises: OSError, where it cannot be begun."""
        self.owner = os.getpid()
        self.began_at = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is for us to pass on
        )
        self._stdin, self._stdout, self._stderr = _pipes(self._process)
        os.set_blocking(self._stdin.fileno(), False)
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Row]] = {}
        self._is_over = False
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._fatal_words = ""
        self._listener = threading.Thread(target=self._listen, name="ray-link", daemon=True)
        self._reader = threading.Thread(target=self._read_words, name="ray-words", daemon=True)
        self._reader.start()
        self._listener.start()
        self.ready = self._send(options, give_up_at=self.began_at + _SEE_OFF_SECONDS)

    def ask(self, row: Row, *, give_up_at: float) -> Row:
        """Return the answer.

        Raises:
            _LinkEnded: it has ended, or ends.
            TooLate: it does not answer in time.
        """
        future = self._send(row, give_up_at=give_up_at)
        return future.result(max(give_up_at - time.monotonic(), 0.0))

    def _send(self, row: Row, *, give_up_at: float) -> Future[Row]:
        future: Future[Row] = Future()
        with self._lock:
            number = next(self._numbers)
            if self._is_over:
                raise _LinkEnded(self.last_words)
            self._waiting[number] = future
            line = json.dumps({"number": number, **row}).encode() + b"\n"
            with contextlib.suppress(OSError):  # it ends; the listener tells whoever waits
                _write(self._stdin.fileno(), line, give_up_at=give_up_at)
        return future

    def _listen(self) -> None:
        for line in self._stdout:
            row = json.loads(line)
            with self._lock:
                future = self._waiting.pop(row["number"], None)
            if future is not None:
                future.set_result(row)
        self._process.wait()
        self._reader.join(_SEE_OFF_SECONDS)
        with self._lock:
            self._is_over = True
            self._close()
            left, self._waiting = self._waiting, {}
        for future in left.values():
            future.set_exception(_LinkEnded(self.last_words))

    def _read_words(self) -> None:
        for line in self._stderr:
            words = line.decode(errors="replace").strip()
            self._last_words.append(words)
            if _FATAL in words:
                self._fatal_words = words[-_LONGEST_WORDS:]

    def _close(self) -> None:
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()

    @property
    def last_words(self) -> str:
        """What it wrote before it ended; what Ray's libraries failed at, if they say it."""
        if self._fatal_words:
            return self._fatal_words
        return " ".join(filter(None, self._last_words))[-_LONGEST_WORDS:]

    @property
    def is_ready(self) -> bool:
        return self.ready.done() and self.ready.exception() is None

    def end(self) -> None:
        """End it at once; whoever waits is told."""
        self._process.kill()

    def await_end(self) -> None:
        self._listener.join(_SEE_OFF_SECONDS)

    def leave_to_parent(self) -> None:
        """Keep nothing of it open in a fork of the process that began it, or it could not end."""
        self._close()


@dataclass(kw_only=True)
class Link:
    """The link of this process, begun when it is first asked for something, and anew when it ends.

    For any number of threads.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    options: Mapping[str, Any]  # its first line; what nobody else may see goes there
    begin_seconds: float = 60.0  # guessed: for Ray to be loaded, and the cluster to answer
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _conversation: _Conversation | None = None
    _failures: int = 0
    _not_before: float = 0.0
    _trouble: str = ""

    def ask(self, question: Mapping[str, Any], *, seconds: float) -> Row:
        """Return the answer to one question.

        Raises:
            HostUnavailable: there is none in time; why, in words.
        """
        give_up_at = time.monotonic() + seconds
        conversation = self._current()
        try:
            self._await_ready(conversation, give_up_at)
            answer = conversation.ask(dict(question), give_up_at=give_up_at)
        except _LinkEnded as problem:
            raise self._failed(conversation, f"the link to Ray ended: {problem}") from problem
        except TooLate:
            conversation.end()
            why = f"the link to Ray did not answer within {seconds:g} s"
            raise self._failed(conversation, why) from None
        with self._lock:
            self._failures, self._trouble = 0, ""
        return answer

    @property
    def is_begun(self) -> bool:
        """True if somebody has asked it, and it did not end since."""
        return self._conversation is not None

    def close(self) -> None:
        """End it; the next question begins another."""
        with self._lock:
            conversation, self._conversation = self._conversation, None
        if conversation is not None and conversation.owner == os.getpid():
            conversation.end()
            conversation.await_end()

    def _await_ready(self, conversation: _Conversation, give_up_at: float) -> None:
        """Raises: HostUnavailable, _Ended."""
        try:
            greeting = conversation.ready.result(max(give_up_at - time.monotonic(), 0.0))
        except TooLate:
            taken = time.monotonic() - conversation.began_at
            if taken < self.begin_seconds:
                why = f"the link to Ray is being made, since {taken:.0f} s"
                raise HostUnavailable(self._trouble or why) from None
            conversation.end()
            words = conversation.last_words
            why = f"Ray does not answer within {self.begin_seconds:g} s; it says: {words}"
            raise self._failed(conversation, why) from None
        if "failed" in greeting:
            words = conversation.last_words
            why = with_the_reason(greeting["failed"], heard=words, environ=self.env)
            raise self._failed(conversation, why)

    def _current(self) -> _Conversation:
        with self._lock:
            if self._conversation is not None and self._conversation.owner != os.getpid():
                self._conversation.leave_to_parent()
                self._conversation = None
            if self._conversation is None:
                if self.clock() < self._not_before:
                    raise HostUnavailable(self._trouble)
                self._conversation = self._begun()
            return self._conversation

    def _begun(self) -> _Conversation:
        try:
            return _Conversation(self.command, self.env, dict(self.options))
        except OSError as problem:
            self._put_off(f"the link to Ray cannot be begun: {problem}")
            raise HostUnavailable(self._trouble) from problem
        except _LinkEnded as problem:  # before it could be told anything
            self._put_off(f"the link to Ray ended: {problem}")
            raise HostUnavailable(self._trouble) from problem

    def _failed(self, conversation: _Conversation, why: str) -> HostUnavailable:
        """Let another be begun: at once after one that worked, else after a while."""
        conversation.end()
        with self._lock:
            if self._conversation is conversation:
                self._conversation = None
                self._put_off(why)
        return HostUnavailable(why)

    def _put_off(self, why: str) -> None:
        self._not_before = self.clock() + _BETWEEN_LINKS.seconds_after(self._failures)
        self._failures += 1
        self._trouble = why


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None  # noqa: S101 - asked for, as the others
    assert stdout is not None  # noqa: S101
    assert stderr is not None  # noqa: S101
    return stdin, stdout, stderr


def _write(pipe: int, line: bytes, *, give_up_at: float) -> None:
    """All of it, in time.

    Raises:
        OSError: nobody reads it any more.
        TooLate: whoever should read it does not.
    """
    view = memoryview(line)
    while view:
        patience = max(give_up_at - time.monotonic(), 0.0)
        if not select.select((), (pipe,), (), patience)[1]:
            raise TooLate
        view = view[os.write(pipe, view) :]
