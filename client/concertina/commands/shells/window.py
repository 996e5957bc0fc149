"""What becomes of a person's own terminal while a command beside a worker has it?"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from concertina.connection.shells.remote_shell import BEAT_SECONDS, LARGEST_PIECE
from concertina.errors import ConcertinaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.connection.shells.remote_shell import RemoteShell

_INPUT: Final = 0


def size() -> dict[str, int]:
    """Return how large the window is."""
    found = shutil.get_terminal_size()
    return {"rows": min(found.lines, 1000), "columns": min(found.columns, 1000)}


@contextmanager
def given_over(*, is_terminal: bool) -> Iterator[None]:
    """Let every key through as it is within, Ctrl-C as well; afterwards all is as it was.

    Also if this program is told to end, or its window is closed.
    """
    if not is_terminal:
        yield
        return
    import termios  # noqa: PLC0415 - Windows has none
    import tty  # noqa: PLC0415 - likewise

    before = termios.tcgetattr(_INPUT)
    ends = (signal.SIGTERM, signal.SIGHUP)
    reactions = {number: signal.signal(number, _leave) for number in ends}
    try:
        tty.setraw(_INPUT)
        yield
    finally:
        with suppress(termios.error):  # the window is gone
            termios.tcsetattr(_INPUT, termios.TCSADRAIN, before)
        for number, reaction in reactions.items():
            signal.signal(number, reaction)


def _leave(number: int, _: object) -> NoReturn:
    """End as a program that a signal ended, but put everything in order first."""
    raise SystemExit(128 + number)


class TypedInput:
    """Sends what comes on standard input, changes of the window, and signs of life; in a thread."""

    def __init__(self, shell: RemoteShell, *, is_terminal: bool) -> None:
        self._shell = shell
        self._is_terminal = is_terminal
        self._bell, self._ring = os.pipe()
        self._wants = dict[str, Any]()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self._is_terminal:
            signal.signal(signal.SIGWINCH, lambda *_: self.ask(**size()))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)

    def ask(self, **more: Any) -> None:
        """Send this with the next piece, which is sent now."""
        self._wants = {**self._wants, **more}
        os.write(self._ring, b"!")

    def _run(self) -> None:
        try:
            while self._send_next():
                pass
        except ConcertinaError as error:
            sys.stderr.write(f"\r\nNothing can be sent any more: {error.message}\r\n")

    def _send_next(self) -> bool:
        sources = [self._bell] if self._is_over else [self._bell, _INPUT]
        ready = select.select(sources, [], [], BEAT_SECONDS)[0]
        data, more = b"", dict[str, Any]()
        if self._bell in ready:
            os.read(self._bell, 1024)
            more, self._wants = self._wants, {}
        if _INPUT in ready:
            data = _read()
            if not data:
                self._is_over = True
                more = {**more, "is_last": True}
        return self._shell.send(data, **more)


def _read() -> bytes:
    try:
        return os.read(_INPUT, LARGEST_PIECE)
    except OSError:  # nobody gave us any
        return b""
