"""What do a job's containers reach beside one another? The job's choice, or the installation's."""

from __future__ import annotations

from typing import Final

from autoscaler.job_network import JobNetwork
from cluster.worker_host import Launch

USUAL: Final = (JobNetwork.ISOLATED, JobNetwork.EGRESS)  # which of them can be that of all jobs


def of_launch(launch: Launch, usual: JobNetwork) -> JobNetwork:
    """Return that of its job; `usual`: of jobs that ask for none."""
    return JobNetwork(launch.network) if launch.network else usual
