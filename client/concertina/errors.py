"""What can go wrong for a caller, and what should they do about it?

One class per situation. Each carries its exit code and the `code` and `details` of the error
envelope, so that the command line can show it to a person or, with `--output json`, to a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from concertina.exit_codes import CommandExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from concertina.documents import Error, Problem


class ConcertinaError(Exception):
    """Something did not work."""

    exit_code: ClassVar[CommandExitCode]
    default_code: ClassVar[str]

    def __init__(
        self, message: str = "", *, code: str = "", details: Sequence[Problem] = ()
    ) -> None:
        self.message = message or (self.__doc__ or "").strip()
        self.code = code or self.default_code
        self.details = tuple(details)
        super().__init__(self.message)

    def as_envelope(self) -> Error:
        return {"code": self.code, "message": self.message, "details": list(self.details)}


class BadInput(ConcertinaError):
    """The command line or the job file cannot be understood."""

    exit_code = CommandExitCode.USAGE
    default_code = "usage"


class RefusedByService(ConcertinaError):
    """The service refused this request."""

    exit_code = CommandExitCode.REFUSED
    default_code = "refused"


class NotFound(ConcertinaError):
    """There is no such thing, or this token may not see it."""

    exit_code = CommandExitCode.NOT_FOUND
    default_code = "not_found"


class NotAllowed(ConcertinaError):
    """Not logged in, or this token may not do that."""

    exit_code = CommandExitCode.NOT_ALLOWED
    default_code = "not_authenticated"


class Unreachable(ConcertinaError):
    """The service does not answer."""

    exit_code = CommandExitCode.UNREACHABLE
    default_code = "unreachable"

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "",
        is_temporary: bool = True,
        was_sent: bool = True,
        retry_after_seconds: float = 0.0,
    ) -> None:
        super().__init__(message, code=code)
        self.is_temporary = is_temporary  # worth trying again
        self.was_sent = was_sent  # the service may have acted on the request
        self.retry_after_seconds = retry_after_seconds  # the service's own wish
