"""Has a job written more than it may, or its team's jobs together, and how is that said?"""

from __future__ import annotations

from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.snapshot import JobSnapshot
from jobs.admission.disk_limits import NEAR
from jobs.spec.quantities import format_size, size_in_words

_UNNOTICED: Final = 64 << 20  # bytes; guessed: what a job writes that only goes on


def excess_of(job: JobSnapshot) -> JobReason | None:
    """Judge by what was measured last; None: all is well, as far as anybody could see."""
    use, limits = job.disk, job.context.disk_limits
    if use.disk_bytes is None or use.disk_files is None:
        return None
    if use.disk_bytes > _limit(job):
        return JobReason.OUT_OF_DISK
    if use.disk_files > limits.most_files:
        return JobReason.TOO_MANY_FILES
    if _fills_its_team(job, use.disk_bytes):
        return JobReason.TEAM_DISK_FULL
    return JobReason.FOLDER_CLOSED if use.has_closed_folder else None


def is_near(job: JobSnapshot) -> bool:
    """True while its people can still do something, and should hear of it."""
    team = job.context.team_disk
    return _is_near_its_own(job) or (team is not None and team.is_near)


def warning(job: JobSnapshot) -> tuple[JobReason, str]:
    """Say how near which limit is, and what happens there."""
    team = job.context.team_disk
    if team is not None and not _is_near_its_own(job):
        return JobReason.TEAM_DISK_FULL, (
            f"{team.said()} Above that, jobs that write more are ended, and others wait."
            f" {team.remedy()}"
        )
    return JobReason.OUT_OF_DISK, (
        f"Its files take {size_in_words(job.disk.disk_bytes or 0)} of the"
        f" {format_size(_limit(job))} that it may write (`resources.disk_per_job`). Above that the"
        " job is ended and counts as failed."
    )


def sentence(found: JobReason, job: JobSnapshot) -> str:
    """Say what was too much, what the limit is, and what to change."""
    return f"{_what_is_wrong(found, job)} {_AFTERWARDS}"


def _what_is_wrong(found: JobReason, job: JobSnapshot) -> str:
    limits, size = job.context.disk_limits, size_in_words(job.disk.disk_bytes or 0)
    if found is JobReason.OUT_OF_DISK:
        return (
            f"Its files take {size}, more than the {format_size(_limit(job))} that it may write"
            " (`resources.disk_per_job`). Write less, keep fewer checkpoints"
            " (`checkpoint.keep_last`), or ask for more:"
            f" at most {format_size(limits.most_bytes)} here."
        )
    if found is JobReason.TEAM_DISK_FULL and (team := job.context.team_disk) is not None:
        return f"{team.said()} This job wrote on, and its files take {size}. {team.remedy()}"
    if found is JobReason.TOO_MANY_FILES:
        return (
            f"It keeps more than the {limits.most_files} files and folders that a job may have."
            " Keep many small files in a few archives."
        )
    return (
        "One of its folders is closed to its own user, or is nested more than 200 levels deep, so"
        " nobody can measure how much it writes. Leave folders open to their owner (`chmod u+rx`)."
    )


def _limit(job: JobSnapshot) -> int:
    return job.context.disk_limits.bytes_of(job.spec.resources.disk_per_job)


def _is_near_its_own(job: JobSnapshot) -> bool:
    return job.disk.disk_bytes is not None and job.disk.disk_bytes > NEAR * _limit(job)


def _fills_its_team(job: JobSnapshot, disk_bytes: int) -> bool:
    """It took less while its team had room: those that write no more go on."""
    team, before = job.context.team_disk, job.disk.bytes_within
    is_full = team is not None and team.is_full
    return is_full and before is not None and disk_bytes > before + _UNNOTICED


_AFTERWARDS: Final = "It is not tried again; `concertina delete` frees what it holds."
