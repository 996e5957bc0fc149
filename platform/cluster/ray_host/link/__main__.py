"""How does the link serve the service that began it? `python -m cluster.ray_host.link`.

The first line that it reads says which cluster, of what installation; each further line is a
question to agents, whose answer bears its number. When its input ends, because whoever began it
did, it ends at once: nothing of what it knows is needed.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TextIO

from cluster.ray_host.link.connection import CannotConnect, connect

_AT_ONCE: Final = 32  # questions; each waits most of its time

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class _Answers:
    """Lines of what only we may write to: Ray and its libraries print where they like."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def say(self, number: int, **row: Any) -> None:
        line = json.dumps({"number": number, **row})
        with self._lock:
            self._out.write(line + "\n")


def main(lines: TextIO = sys.stdin) -> None:
    answers = _Answers()
    options = json.loads(lines.readline())
    threading.Thread(target=_serve, args=(lines, answers), daemon=True).start()
    try:
        answer = connect(options)
    except CannotConnect as problem:
        answers.say(options["number"], failed=str(problem))
        os._exit(1)
    _READY.answer = answer
    answers.say(options["number"])
    _READY.event.set()
    threading.Event().wait()  # the reader of questions ends us


class _Ready:
    """What answers, once the cluster is reached."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.answer: Answer | None = None


_READY: Final = _Ready()


def _serve(lines: TextIO, answers: _Answers) -> None:
    """Begun before the cluster is reached, which may take for ever: whoever began us may end."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for line in lines:
            pool.submit(_answer, json.loads(line), answers)
        os._exit(0)


def _answer(request: Mapping[str, Any], answers: _Answers) -> None:
    _READY.event.wait()
    answer = _READY.answer
    assert answer is not None  # noqa: S101 - set before the event
    try:
        answers.say(request["number"], **answer(request))
    except Exception as problem:  # noqa: BLE001 - the service has to hear of any, or waits for long
        answers.say(request["number"], trouble=f"{type(problem).__name__}: {problem}"[:1000])


if __name__ == "__main__":
    main()
