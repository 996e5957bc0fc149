"""With which exit code does each command end, so that a CI pipeline can tell what happened?"""

from __future__ import annotations

from enum import IntEnum


class CommandExitCode(IntEnum):
    """Stable: pipelines branch on these numbers."""

    OK = 0  # done; with `--wait`: the job completed
    JOB_FAILED = 1  # the job ended as `failed`
    USAGE = 2  # the command line or the job file cannot be understood; nothing was sent
    REFUSED = 3  # the service understood and said no: the spec is wrong, the move not possible
    NOT_FOUND = 4  # no such job or team, or none that this token may see
    NOT_ALLOWED = 5  # not logged in, the token is unknown or expired, or may not do this
    UNREACHABLE = 6  # the service did not answer for as long as we were willing to try
    JOB_CANCELLED = 7  # the job ended as `cancelled`
    JOB_ENDED_EARLY = 8  # the job's script ended before its training was through
    WOULD_CHANGE = 9  # `admin apply --dry-run --exit-code`: the set-up is not as the file says
    INTERRUPTED = 130  # Ctrl-C; a submitted job goes on


_BY_FINAL_STATE = {
    "completed": CommandExitCode.OK,
    "failed": CommandExitCode.JOB_FAILED,
    "cancelled": CommandExitCode.JOB_CANCELLED,
}


def of_outcome(state: str, reason: str = "") -> CommandExitCode:
    """The exit code that tells a final `state`, and of failures why."""
    if (state, reason) == ("failed", "ended_early"):
        return CommandExitCode.JOB_ENDED_EARLY
    return _BY_FINAL_STATE[state]
