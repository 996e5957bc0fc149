"""Which function answers which command of `./dev`?

Modules are imported by the command that needs them, so that `--help` and `doctor` work before
anything is installed.
"""
# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from local_stack import checkout, command_line, stack_record
from local_stack.terminal import say, speak_any_encoding

if TYPE_CHECKING:
    from local_stack.stack.stack import Options

INTERRUPTED = 130  # what a shell says of a program that Ctrl-C ended


def main() -> int:
    """Run one command and return its exit code."""
    speak_any_encoding()
    options = command_line.parser().parse_args(sys.argv[1:] or ["--help"])
    try:
        return COMMANDS[options.command](options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `./dev logs | head`
        return 0


def _demo(options: argparse.Namespace) -> int:
    from local_stack.demo import run

    return run.demo(
        checkout.find(),
        slots=options.slots,
        host=options.host,
        is_over_after_summary=options.exit,
    )


def _up(options: argparse.Namespace) -> int:
    from local_stack.commands import up

    return up.up(checkout.find(), _chosen(options), is_detached=options.detach)


def _supervise(options: argparse.Namespace) -> int:
    from local_stack.commands import up

    return up.supervise(checkout.find(), _chosen(options))


def _chosen(options: argparse.Namespace) -> Options:
    from local_stack.stack.stack import Options

    return Options(
        slots=options.slots,
        tick_seconds=options.tick_seconds,
        host=options.host,
        is_measured=getattr(options, "measured", False),
    )


def _test(options: argparse.Namespace) -> int:
    from local_stack.commands import quality

    thorough = ("--thorough",) if options.thorough else ()
    if options.pytest_arguments:
        return quality.run_pytest(checkout.find(), (*thorough, *options.pytest_arguments))
    return quality.test(checkout.find(), thorough)


def _chaos(options: argparse.Namespace) -> int:
    from local_stack.chaos import run

    choice = run.ChaosOptions(
        faults=options.faults,
        seed=options.seed,
        longest_seconds=options.freeze_seconds,
        minutes=options.minutes,
        only=tuple(options.only),
        components=tuple(options.component),
        is_in_containers=options.docker,
        is_on_running=options.running,
        is_agreed=options.yes,
        is_double=options.double,
        is_json=options.json,
    )
    return run.chaos(choice)


def _soak(options: argparse.Namespace) -> int:
    from local_stack.soak import run

    choice = run.SoakOptions(
        jobs=options.jobs, minutes=options.minutes, seed=options.seed, report=options.report
    )
    return run.soak(choice)


def _set_up(_: argparse.Namespace) -> int:
    return 0  # ./dev did it before it came here


def _lint(_: argparse.Namespace) -> int:
    from local_stack.commands import quality

    return quality.lint(checkout.find())


def _status(_: argparse.Namespace) -> int:
    from local_stack.commands import status

    return status.status(checkout.find())


def _logs(options: argparse.Namespace) -> int:
    from local_stack.commands import log_view

    return log_view.show(
        checkout.find(), name=options.process, lines=options.lines, is_following=options.follow
    )


def _down(_: argparse.Namespace) -> int:
    here = checkout.find()
    if not here.state_dir.exists():
        say("Nothing to stop: nothing was ever started here.")
        return 0
    from local_stack.stack import background

    if stack_record.is_up(here):
        _murmur("Stopping…")
    was_up = background.stop(here, say=_murmur)
    say("Stopped." if was_up else "The service was not up.")
    return 0


def _murmur(text: str) -> None:
    """It is stopped whether somebody listens or not."""
    with contextlib.suppress(OSError):
        say(text)


def _manage(options: argparse.Namespace) -> int:
    from local_stack.commands import managing

    return managing.run(checkout.find(), options.arguments)


def _doctor(_: argparse.Namespace) -> int:
    from local_stack.commands import doctor

    return doctor.doctor(checkout.find())


def _clean(options: argparse.Namespace) -> int:
    from local_stack.commands import clean

    return clean.clean(checkout.find(), is_sure=options.yes, is_everything=options.all)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "up": _up,
    "supervise": _supervise,
    "test": _test,
    "chaos": _chaos,
    "soak": _soak,
    "set-up": _set_up,
    "lint": _lint,
    "status": _status,
    "logs": _logs,
    "down": _down,
    "manage": _manage,
    "doctor": _doctor,
    "clean": _clean,
}

if __name__ == "__main__":
    sys.exit(main())
