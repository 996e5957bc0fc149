"""By what are our containers and networks known to Docker, and read back?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cluster.worker_host import Labels, Role

_PREFIX: Final = "concertina."
INSTALLATION: Final = f"{_PREFIX}installation"
JOB: Final = f"{_PREFIX}job"
NODE: Final = f"{_PREFIX}node"
WARM: Final = f"{_PREFIX}warm"  # of one that waits, or waited: its id; "" as none
_PROCESS: Final = f"{_PREFIX}process"
_ROLE: Final = f"{_PREFIX}role"
_ATTEMPT: Final = f"{_PREFIX}attempt"
_FENCE: Final = f"{_PREFIX}fence"


def of_process(labels: Labels, *, node: str, installation: str) -> dict[str, str]:
    """What its container carries; labels of its image cannot pass it off as one that waited."""
    return {
        INSTALLATION: installation,
        NODE: node,
        JOB: labels.job_id,
        _PROCESS: labels.process_id,
        _ROLE: labels.role.value,
        _ATTEMPT: str(labels.attempt),
        _FENCE: str(labels.fence),
        WARM: "",
    }


def of_warm(warm_id: str, *, node: str, installation: str) -> dict[str, str]:
    """What a container carries that waits for a launch; a launch cannot add its own.

    No role: labels of its image cannot pass it off as a process.
    """
    return {INSTALLATION: installation, NODE: node, WARM: warm_id, _ROLE: ""}


def read(found: Mapping[str, str]) -> Labels | None:
    """The process a container belongs to; None if somebody else wrote these labels."""
    try:
        return Labels(
            process_id=found[_PROCESS],
            job_id=found[JOB],
            role=Role(found[_ROLE]),
            attempt=int(found[_ATTEMPT]),
            fence=int(found[_FENCE]),
        )
    except (KeyError, ValueError):
        return None


def of_installation(installation: str) -> list[str]:
    """The filter that finds what is ours."""
    return [f"{INSTALLATION}={installation}"]


def of_all_warm(installation: str) -> list[str]:
    """The filter that finds what waits, or has waited, for a launch, and where it says nothing."""
    return [*of_installation(installation), WARM]


def of_one_warm(installation: str, warm_id: str) -> list[str]:
    """The filter that finds one of these."""
    return [*of_installation(installation), f"{WARM}={warm_id}"]


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
    """What a job's network carries."""
    return {INSTALLATION: installation, JOB: job_id}
