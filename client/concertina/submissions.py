"""What became of what was sent?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concertina.documents import SubmittedJob, SubmittedJobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a submit: `is_new` is false when its key had made this job before."""

    job: SubmittedJob
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkSubmission:
    """What became of a bulk: `is_new` is false when its key had made these jobs before."""

    jobs: SubmittedJobs
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedData:
    """A folder of data: `is_new` is false when the team had it already."""

    digest: str
    files: int
    bytes: int
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedCode:
    """A snapshot of code: `is_new` is false when the team had it already."""

    digest: str
    files: int
    bytes: int
    is_new: bool
