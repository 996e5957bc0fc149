"""By what are our containers and networks known to Docker, and read back?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cluster.worker_host import Labels, ProcessRole

_PREFIX: Final = "concertina."
INSTALLATION: Final = f"{_PREFIX}installation"
JOB: Final = f"{_PREFIX}job"
NODE: Final = f"{_PREFIX}node"
_WARM: Final = f"{_PREFIX}warm"  # of one that waits for a launch, by the former release; "": none
_PROCESS: Final = f"{_PREFIX}process"
_ROLE: Final = f"{_PREFIX}role"
_ATTEMPT: Final = f"{_PREFIX}attempt"
_FENCE: Final = f"{_PREFIX}fence"


def of_process(labels: Labels, *, node: str, installation: str) -> dict[str, str]:
    """Return its container's labels; those of its image cannot pass it off as something else."""
    return {
        INSTALLATION: installation,
        NODE: node,
        JOB: labels.job_id,
        _PROCESS: labels.process_id,
        _ROLE: labels.role.value,
        _ATTEMPT: str(labels.attempt),
        _FENCE: str(labels.fence),
        _WARM: "",
    }


def read(found: Mapping[str, str]) -> Labels | None:
    """The process a container belongs to; None if somebody else wrote these labels."""
    try:
        return Labels(
            process_id=found[_PROCESS],
            job_id=found[JOB],
            role=ProcessRole(found[_ROLE]),
            attempt=int(found[_ATTEMPT]),
            fence=int(found[_FENCE]),
        )
    except (KeyError, ValueError):
        return None


def of_installation(installation: str) -> list[str]:
    """The filter that finds what is ours."""
    return [f"{INSTALLATION}={installation}"]


def of_all_warm(installation: str) -> list[str]:
    """The filter that finds what `waits_warm` tells apart."""
    return [*of_installation(installation), _WARM]


def waits_warm(found: Mapping[str, str]) -> bool:
    """True for a container that waits, or has waited, for a launch: only the former release did."""
    return bool(found.get(_WARM))


def of_job(installation: str, job_id: str) -> list[str]:
    """The filter that finds what belongs to one job."""
    return [*of_installation(installation), f"{JOB}={job_id}"]


def of_all_jobs(installation: str) -> list[str]:
    """The filter that finds what belongs to any job."""
    return [*of_installation(installation), JOB]


def of_one_process(installation: str, process_id: str) -> list[str]:
    """The filter that finds the container of one process."""
    return [*of_installation(installation), f"{_PROCESS}={process_id}"]


def of_network(installation: str, job_id: str) -> dict[str, str]:
    """Return what a job's network carries."""
    return {INSTALLATION: installation, JOB: job_id}
