"""How does a step that takes long tell how far it is? A line that lives while the step runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from local_stack.terminal import coloured, duration, say

REDRAW_SECONDS = 0.1
REMIND_SECONDS = 15.0  # where there is no terminal to redraw
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SHOWN_ON_FAILURE = 25


class StepFailed(Exception):
    """A step of the set-up did not succeed; the message says what to do."""


def run_step(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a command as one step of the set-up; its output goes to the log.

    Raises:
        StepFailed: with the last lines of its output.
    """
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _show_while_running(name, process, log, began)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    _clear_line()
    if process.returncode != 0:
        raise StepFailed(f"{name} failed after {_since(began)}. The end of {log}:\n{_tail(log)}")
    say(f"  {coloured('✓', 'green')} {name} ({_since(began)})")


def skipped(name: str) -> None:
    """Say that a step has nothing to do."""
    say(f"  {coloured('✓', 'green')} {name} {coloured('(done already)', 'dim')}")


def _show_while_running(
    name: str, process: subprocess.Popen[bytes], log: Path, began: float
) -> None:
    if not sys.stdout.isatty():
        _remind_while_running(name, process, began)
        return
    turn = 0
    while process.poll() is None:
        turn += 1
        text = f"  {SPINNER[turn % len(SPINNER)]} {name} ({_since(began)}) "
        room = os.get_terminal_size().columns - len(text) - 1
        sys.stdout.write(f"\r\x1b[K{text}{coloured(_last_line(log)[: max(room, 0)], 'dim')}")
        sys.stdout.flush()
        time.sleep(REDRAW_SECONDS)


def _remind_while_running(name: str, process: subprocess.Popen[bytes], began: float) -> None:
    say(f"  … {name}")
    while True:
        try:
            process.wait(REMIND_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"  … {name} ({_since(began)})")
        else:
            return


def _clear_line() -> None:
    if sys.stdout.isatty():
        sys.stdout.write("\r\x1b[K")


def _since(began: float) -> str:
    return duration(time.monotonic() - began)


def _last_line(log: Path) -> str:
    lines = _lines(log)
    return lines[-1] if lines else ""


def _tail(log: Path) -> str:
    return "\n".join(f"    {line}" for line in _lines(log)[-SHOWN_ON_FAILURE:])


def _lines(log: Path) -> list[str]:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 20_000))
        text = stream.read().decode(errors="replace").replace("\r", "\n")
    return [line.strip() for line in text.splitlines() if line.strip() and line.isprintable()]
