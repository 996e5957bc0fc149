"""What can keep the stack from starting, and how is a person told?"""

from __future__ import annotations

from cluster.variables import BadEnvironment

from local_stack.checkout import UnsafeFolder
from local_stack.gpus import DriverDoesNotAnswer
from local_stack.processes.child_process import NotReady
from local_stack.processes.servers import NoServer
from local_stack.set_up.long_step import StepFailed
from local_stack.stack.background import DidNotStart
from local_stack.stack.preparation import PreparationFailed
from local_stack.stack_record import AlreadyUp
from local_stack.terminal import coloured, say

TROUBLE = (
    AlreadyUp,
    BadEnvironment,
    DidNotStart,
    DriverDoesNotAnswer,
    NoServer,
    NotReady,
    PreparationFailed,
    OSError,  # no free port, a full disk
    StepFailed,
    UnsafeFolder,
)


def explain(trouble: Exception) -> int:
    """Say what went wrong and where to look; returns the exit code."""
    say(coloured(f"✗ {trouble}", "red"))
    say("Look into ./dev logs, and let ./dev doctor check this machine.")
    return 1
