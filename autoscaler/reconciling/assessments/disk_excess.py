"""Has a job written more than it may, and how is that said?"""

from __future__ import annotations

from typing import Final

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.snapshot import DiskUse
from jobs.admission.disk_limits import DiskLimits
from jobs.spec.job_spec import JobSpec
from jobs.spec.quantities import format_size


def excess_of(use: DiskUse, spec: JobSpec, limits: DiskLimits) -> JobReason | None:
    """Judge by what was measured last; None: all is well, as far as anybody could see."""
    if use.disk_bytes is None or use.disk_files is None:
        return None
    if use.disk_bytes > limits.bytes_of(spec.resources.disk_per_job):
        return JobReason.OUT_OF_DISK
    if use.disk_files > limits.most_files:
        return JobReason.TOO_MANY_FILES
    return JobReason.FOLDER_CLOSED if use.has_closed_folder else None


def is_near(use: DiskUse, spec: JobSpec, limits: DiskLimits) -> bool:
    """True while its people can still do something, and should hear of it."""
    limit = limits.bytes_of(spec.resources.disk_per_job)
    return use.disk_bytes is not None and use.disk_bytes > _NEAR * limit


def warning(use: DiskUse, spec: JobSpec, limits: DiskLimits) -> str:
    """Say how near the limit is, and what happens there."""
    limit = limits.bytes_of(spec.resources.disk_per_job)
    return (
        f"Its files take {in_words(use.disk_bytes or 0)} of the {format_size(limit)} that it may"
        " write (`resources.disk_per_job`). Above that the job is ended and counts as failed."
    )


def sentence(found: JobReason, use: DiskUse, spec: JobSpec, limits: DiskLimits) -> str:
    """Say what was too much, what the limit is, and what to change."""
    return f"{_what_is_wrong(found, use, spec, limits)} {_AFTERWARDS}"


def _what_is_wrong(found: JobReason, use: DiskUse, spec: JobSpec, limits: DiskLimits) -> str:
    if found is JobReason.OUT_OF_DISK:
        limit = limits.bytes_of(spec.resources.disk_per_job)
        return (
            f"Its files take {in_words(use.disk_bytes or 0)}, more than the {format_size(limit)}"
            " that it may write (`resources.disk_per_job`). Write less, keep fewer checkpoints"
            " (`checkpoint.keep_last`), or ask for more:"
            f" at most {format_size(limits.most_bytes)} here."
        )
    if found is JobReason.TOO_MANY_FILES:
        return (
            f"It keeps more than the {limits.most_files} files and folders that a job may have."
            " Keep many small files in a few archives."
        )
    return (
        "One of its folders is closed to its own user, or is nested more than 200 levels deep, so"
        " nobody can measure how much it writes. Leave folders open to their owner (`chmod u+rx`)."
    )


_NEAR: Final = 0.8  # guessed: a checkpoint more, where five are kept
_AFTERWARDS: Final = "It is not tried again; `concertina delete` frees what it holds."
_UNITS: Final = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20))


def in_words(size: int) -> str:
    """Write the size as people read it: `61.3 GiB`."""
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size >> 10} KiB"
