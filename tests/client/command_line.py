"""Runs the command line as a person or a pipeline does, and keeps what it said."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from local_stack.checkout import ROOT
from typer.testing import CliRunner

from concertina.main import app

PROGRAM = (sys.executable, "-m", "concertina")
PATIENCE_SECONDS = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command ended."""

    exit_code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err.splitlines()[-1])  # before it: that the service was away


@dataclass(slots=True, kw_only=True)
class Running:
    """A command that has not ended yet."""

    process: subprocess.Popen[str]
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    said: threading.Condition = field(default_factory=threading.Condition)

    def wait_until_said(self, text: str, times: int = 1) -> None:
        """Block until `text` has been printed so many times, on either stream."""
        with self.said:
            enough = self.said.wait_for(
                lambda: "".join([*self.out, *self.err]).count(text) >= times, PATIENCE_SECONDS
            )
        assert enough, f"{text!r} was never said, but: {self.out} {self.err}"

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def read(self, stream: Any, lines: list[str]) -> None:
        for line in stream:
            with self.said:
                lines.append(line)
                self.said.notify_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The command line of somebody with a home folder."""

    environment: dict[str, str]

    def __call__(self, *arguments: str | Path, stdin: str = "") -> Ending:
        """Run a command to its end, in this process: that is many times faster."""
        ours = dict.fromkeys(name for name in os.environ if name.startswith("CONCERTINA_"))
        told = {"CONCERTINA_CONTEXT": None, **ours, **self.environment}  # --context sets it
        with CliRunner().isolation(input=stdin, env=told) as (out, err, _):
            exit_code = _exit_code(list(map(str, arguments)))
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            return Ending(
                exit_code=exit_code, out=out.getvalue().decode(), err=err.getvalue().decode()
            )

    @contextmanager
    def running(self, *arguments: str | Path) -> Iterator[tuple[Running, Callable[[], Ending]]]:
        """A command that runs on; the second value waits for its end."""
        process = subprocess.Popen(
            (*PROGRAM, *map(str, arguments)),
            env=self.process_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running = Running(process=process)
        streams = ((process.stdout, running.out), (process.stderr, running.err))
        readers = [threading.Thread(target=running.read, args=pair) for pair in streams]
        for reader in readers:
            reader.start()

        def end() -> Ending:
            exit_code = process.wait(PATIENCE_SECONDS)
            for reader in readers:
                reader.join()
            return Ending(exit_code=exit_code, out="".join(running.out), err="".join(running.err))

        try:
            yield running, end
        finally:
            process.kill()
            end()
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                stream.close()

    def process_environment(self) -> dict[str, str]:
        """What a process of its own is started with: nothing of ours but the PATH."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "PYTHONPATH": str(ROOT / "client"), "TZ": "UTC", **self.environment}


def _exit_code(arguments: list[str]) -> int:
    try:
        _command().main(args=arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@functools.cache
def _command() -> Any:
    """Typer makes it anew for each call, from the signatures of all verbs."""
    return typer.main.get_command(app)
