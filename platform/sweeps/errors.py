"""What can go wrong with a request about a sweep? One class per situation, each with a code."""

from __future__ import annotations

from typing import ClassVar


class SweepError(Exception):
    """A request about a sweep cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class SweepNotFound(SweepError):
    """There is no such sweep."""

    code, status = "not_found", 404
