"""Who stays with a command that a person runs beside a worker, until all of it has ended?

Started as `python -I -c <this text>` where the worker is: in its container, or as its user. It is
told on standard input, in frames, what to run, what is typed, how large the window is and what
signals come; on standard output it tells what the command writes and how it ended. When its input
ends, whoever asked is gone: the command is hung up on, and a moment later all that it started is
killed. Standard library only, and nothing of ours: images bring their own Python, of any age.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from pathlib import Path
from typing import Any, NoReturn

START, INPUT, END_OF_INPUT, SIZE, SIGNAL = b"c", b"i", b"e", b"w", b"s"  # what it is told
OUTPUT, ERRORS, TAKEN, ENDED = b"o", b"r", b"a", b"x"  # what it tells
HEAD = struct.Struct(">cI")
LARGEST_FRAME = 128 << 10  # the largest command as JSON, and what is typed, are smaller
MOST_AHEAD = 256 << 10  # bytes of input that may be on their way; more is sent when some was taken
_CHUNK = 16384
_PATIENCE_SECONDS = 2.0  # between hanging up and killing
_LAST_WORDS_SECONDS = 1.0  # of silence, after the end, in which more may come
_MOST_LAST_WORDS = 4 << 20  # more than pipes hold whose writers are gone
_REAP_SECONDS = 3.0
_SIGNALS = ("INT", "TERM", "QUIT", "HUP")
_SUBREAPER = 36  # a number of prctl(2)
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126  # as shells say it


def packed(kind: bytes, payload: bytes = b"") -> bytes:
    """Return a frame."""
    return HEAD.pack(kind, len(payload)) + payload


class ShellFrames:
    """Splits what comes into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Return the frames that are whole now. Raises: ValueError, if one is too large."""
        self._rest += data
        frames = []
        while len(self._rest) >= HEAD.size:
            kind, size = HEAD.unpack_from(self._rest)
            if size > LARGEST_FRAME:
                raise ValueError("A frame is too large.")
            if len(self._rest) < HEAD.size + size:
                break
            frames.append((kind, self._rest[HEAD.size : HEAD.size + size]))
            self._rest = self._rest[HEAD.size + size :]
        return frames


class ShellAttendant:
    """Runs one command, from the first frame to the end of all that it started."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source, self._sink = source, sink
        self._frames = ShellFrames()
        self._pid = 0
        self._terminal = -1
        self._stdin = -1
        self._outputs: dict[int, bytes] = {}  # kind of frame by descriptor
        self._waiting = b""  # input that the command has not taken
        self._is_input_over = False
        self._hung_up_at: float | None = None
        self._exit_code: int | None = None

    def run(self) -> None:
        """Return when nothing is left of the command."""
        adopt_orphans()
        waker, wakened = os.pipe()
        os.set_blocking(wakened, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.set_wakeup_fd(wakened, warn_on_full_buffer=False)
        while self._exit_code is None:
            self._look(waker)
            self._reap()
        self._kill_children()
        self._copy_last_words()
        self._tell(ENDED, json.dumps({"exit_code": self._exit_code}).encode())

    def _look(self, waker: int) -> None:
        readable = [waker, *self._outputs]
        if self._hung_up_at is None:
            readable.append(self._source)
        writable = [self._stdin] if self._waiting and self._stdin >= 0 else []
        ready, able, _ = select.select(readable, writable, [], self._seconds_to_kill())
        if waker in ready:
            os.read(waker, _CHUNK)
        if self._source in ready:
            self._listen()
        for descriptor in [one for one in ready if one in self._outputs]:
            self._copy(descriptor)
        if able:
            self._feed()
        if self._seconds_to_kill() == 0.0:
            self._kill_children()

    def _seconds_to_kill(self) -> float | None:
        if self._hung_up_at is None:
            return None
        return max(self._hung_up_at + _PATIENCE_SECONDS - time.monotonic(), 0.0)

    def _listen(self) -> None:
        data = os.read(self._source, _CHUNK)
        try:
            for kind, payload in self._frames.feed(data):
                self._take(kind, payload)
        except (ValueError, KeyError):  # nobody of ours speaks so
            data = b""
        if not data:
            self._hang_up()

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == START and not self._pid:
            self._start(json.loads(payload))
        elif kind == INPUT and not self._is_input_over:
            if len(self._waiting) + len(payload) > 2 * MOST_AHEAD:
                raise ValueError("More input than was asked for.")
            self._waiting += payload
            self._feed()
        elif kind == END_OF_INPUT:
            self._is_input_over = True
            self._feed()
        elif kind == SIZE and self._terminal >= 0:
            set_size(self._terminal, json.loads(payload))
        elif kind == SIGNAL and self._pid and payload.decode() in _SIGNALS:
            signal_group(self._pid, getattr(signal, "SIG" + payload.decode()))

    def _start(self, wanted: dict[str, Any]) -> None:
        environment = {**os.environ, **wanted.get("env", {})}
        try:
            begun, beginning = os.pipe()  # closes when the command is executed, or has ended
            if wanted["is_terminal"]:
                self._start_in_terminal(wanted, environment)
            else:
                self._start_with_pipes(wanted, environment)
            os.close(beginning)
            os.read(begun, 1)  # a signal that came before would be lost
            os.close(begun)
        except OSError as problem:
            said = "concertina: nothing can be started here: " + str(problem.strerror) + "\n"
            self._tell(ERRORS, said.encode())
            self._exit_code = _NOT_EXECUTABLE

    def _start_in_terminal(self, wanted: dict[str, Any], environment: dict[str, str]) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            set_size(0, wanted)
            become(wanted["command"], environment)
        os.set_blocking(self._terminal, False)
        self._stdin = self._terminal
        self._outputs[self._terminal] = OUTPUT

    def _start_with_pipes(self, wanted: dict[str, Any], environment: dict[str, str]) -> None:
        (stdin, self._stdin), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.setsid()
            for number, descriptor in enumerate((stdin, stdout, stderr)):
                os.dup2(descriptor, number)
            become(wanted["command"], environment)
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        os.set_blocking(self._stdin, False)
        self._outputs.update({out: OUTPUT, err: ERRORS})

    def _feed(self) -> None:
        """Give the command what waits, and its end; a terminal is told by Ctrl-D."""
        if self._waiting and self._stdin >= 0:
            try:
                count = os.write(self._stdin, self._waiting[:_CHUNK])
            except BlockingIOError:
                return
            except OSError:  # it reads no more
                count = len(self._waiting)
            self._waiting = self._waiting[count:]
            self._tell(TAKEN, str(count).encode())
        if self._is_input_over and not self._waiting and self._stdin >= 0:
            if self._stdin == self._terminal:
                with contextlib.suppress(OSError):
                    os.write(self._terminal, b"\x04")
            else:
                os.close(self._stdin)
            self._stdin = -1

    def _copy_last_words(self) -> None:
        """Tell what is still in the pipes, however slowly it is read; nobody writes any more."""
        left = _MOST_LAST_WORDS
        while self._outputs and left > 0 and self._hung_up_at is None:
            ready = select.select(list(self._outputs), [], [], _LAST_WORDS_SECONDS)[0]
            if not ready:
                return
            left -= sum(self._copy(descriptor) for descriptor in ready)

    def _copy(self, descriptor: int) -> int:
        """Tell what there is; return how many bytes that were."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return 0
        except OSError as problem:  # a terminal whose last process has gone
            if problem.errno != errno.EIO:
                raise
            data = b""
        if data:
            self._tell(self._outputs[descriptor], data)
            return len(data)
        del self._outputs[descriptor]
        if descriptor != self._terminal:
            os.close(descriptor)
        return 0

    def _tell(self, kind: bytes, payload: bytes) -> None:
        """Tell it; whoever reads slowly slows the command down, as a terminal does."""
        data = packed(kind, payload)
        try:
            while data:
                data = data[os.write(self._sink, data) :]
        except OSError:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._hung_up_at is None:
            self._hung_up_at = time.monotonic()
            if self._pid:
                signal_group(self._pid, signal.SIGHUP)
            else:
                self._exit_code = _NOT_EXECUTABLE

    def _kill_children(self) -> None:
        """Kill all that the command started, and what that started, until nothing is left."""
        give_up_at = time.monotonic() + _REAP_SECONDS
        while (found := children()) and time.monotonic() < give_up_at:
            for pid in found:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._reap()
            time.sleep(0.01)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                    self._exit_code = 128 + ended_by if ended_by else os.WEXITSTATUS(status)


def become(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Become the command, or end and say why not."""
    try:
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(command[0], command, environment)  # noqa: S606 - our purpose
    except FileNotFoundError:
        os.write(2, ("concertina: command not found: " + command[0] + "\n").encode())
        os._exit(_NOT_FOUND)
    except BaseException as problem:  # noqa: BLE001 - a fork must never return
        os.write(2, ("concertina: cannot run " + command[0] + ": " + str(problem) + "\n").encode())
    os._exit(_NOT_EXECUTABLE)


def set_size(terminal: int, wanted: dict[str, Any]) -> None:
    """Tell a terminal how large the window is."""
    rows, columns = int(wanted.get("rows") or 24), int(wanted.get("columns") or 80)
    size = struct.pack("HHHH", min(rows, 1000), min(columns, 1000), 0, 0)
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def signal_group(pid: int, number: int) -> None:
    """Signal all in front of the command's terminal, or its group."""
    with contextlib.suppress(OSError):
        os.killpg(pid, number)


def adopt_orphans() -> None:
    """Make processes whose parent ended children of this one."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """Return the children of this process that are there."""
    own = os.getpid()
    text = Path(f"/proc/{own}/task/{own}/children").read_text()
    return [int(pid) for pid in text.split()]


if __name__ == "__main__":
    ShellAttendant().run()
