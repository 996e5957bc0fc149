"""What happens between `./dev COMMAND` and `python -m local_stack COMMAND`?"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import redirect_stdout
from pathlib import Path

from local_stack import checkout as checkouts
from local_stack import command_line
from local_stack.checkout import Checkout
from local_stack.set_up import dashboard, dependencies
from local_stack.set_up.long_step import StepFailed
from local_stack.set_up.setup_lock import alone
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import coloured, say, speak_any_encoding

NEEDS_EVERYTHING = {"chaos", "demo", "set-up", "soak", "test", "up"}
NEEDS_DEPENDENCIES = {"lint"}
WHERE_IT_IS_WRITTEN = (
    "The first ./dev installs into {root}/.venv and builds {root}/frontend/dist, so the checkout"
    " must be writable then; afterwards only {state} is, which CONCERTINA_HOME puts elsewhere."
)


def main(root: str, arguments: list[str]) -> int:
    """Set up what the command needs, then become it. Returns only when something is wrong."""
    speak_any_encoding()
    checkout = checkouts.find(Path(root))
    options = command_line.parser().parse_args(arguments or ["--help"])
    command = options.command
    told_on = sys.stderr if getattr(options, "json", False) else sys.stdout  # which is for programs
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a step ends its own processes
    venv = VirtualEnvironment(folder=checkout.root / ".venv")
    if command in NEEDS_EVERYTHING | NEEDS_DEPENDENCIES:
        with redirect_stdout(told_on):
            failed = _set_up(
                checkout,
                venv,
                needs_everything=command in NEEDS_EVERYTHING,
                needs_ray=_needs_ray(options),
            )
        if failed:
            return failed
    return _become(checkout.root, venv, arguments)


def _needs_ray(options: argparse.Namespace) -> bool:
    """Only who runs it, and the thorough suite, which has tests of it: nobody else waits for it."""
    if options.command == "test":
        return bool(options.thorough)
    return getattr(options, "host", "") == "ray"


def _set_up(
    checkout: Checkout, venv: VirtualEnvironment, *, needs_everything: bool, needs_ray: bool
) -> int:
    """Return the exit code, after what is wrong was said; 0: nothing is."""
    try:
        with alone(checkout):
            dependencies.install(checkout, venv)
            if needs_ray:
                dependencies.install_ray(checkout, venv)
            if needs_everything:
                dashboard.build(checkout, venv)
    except StepFailed as failure:
        say(coloured(f"✗ {failure}", "red"))
        return 1
    except OSError as trouble:  # a read-only checkout, a full disk
        say(coloured(f"✗ The checkout cannot be set up: {trouble}", "red"))
        say(f"  {WHERE_IT_IS_WRITTEN.format(root=checkout.root, state=checkout.state_dir)}")
        return 1
    except KeyboardInterrupt:
        say("\nInterrupted; the next run goes on from here.")
        return 130
    return 0


def _become(root: Path, venv: VirtualEnvironment, arguments: list[str]) -> int:
    environment = dict(os.environ)
    # What runs is many processes, of which each would compile all of the code anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    python = venv.python
    if not venv.is_ready:  # `status`, `doctor`, … answer all the same
        python = Path(sys.executable)
        environment["PYTHONPATH"] = str(root / "platform")
    # -P: a file in the current folder must not stand in for one of our modules.
    os.execve(python, [str(python), "-P", "-m", "local_stack", *arguments], environment)  # noqa: S606
