"""What do a job's containers reach beside one another? The job's choice, or the installation's."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from cluster.worker_host import Launch


class JobNetwork(StrEnum):
    """What a job's containers reach beside one another."""

    ISOLATED = "isolated"  # nothing: neither the world nor the node
    LISTED = "listed"  # nothing but the gate beside its coordinator, which leads to listed hosts
    EGRESS = "egress"  # the world, and whatever listens on the node

    @property
    def leads_out(self) -> bool:
        return self is JobNetwork.EGRESS


USUAL: Final = (JobNetwork.ISOLATED, JobNetwork.EGRESS)  # which of them can be that of all jobs


def of_launch(launch: Launch, usual: JobNetwork) -> JobNetwork:
    """Return that of its job; `usual`: of jobs that ask for none."""
    return JobNetwork(launch.network) if launch.network else usual
