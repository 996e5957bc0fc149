"""What do the workers on this machine take? Its processes and GPUs are read from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cluster.process_host.record import records
from cluster.usage.nvidia import NvidiaGpus
from cluster.usage.process_trees import ProcessKeeper, uses_of
from cluster.usage.readings import NodeReading
from cluster.worker_host import ProcessRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGauge:
    """Reads what processes take whose records are in this folder; supervisors keep them."""

    folder: Path
    gpus: NvidiaGpus = field(default_factory=NvidiaGpus)
    clock: Callable[[], float] = time.monotonic

    def read(self, node: str) -> NodeReading:
        """See the port. Each node of this machine shows all of the machine's GPUs."""
        keepers = {
            folder.name: keeper
            for folder in (self.folder.iterdir() if self.folder.is_dir() else ())
            if (keeper := _keeper(records.CommandRecord(folder=folder), node))
        }
        return NodeReading(
            at_seconds=self.clock(), processes=uses_of(keepers), gpus=self.gpus.read()
        )


def _keeper(record: records.CommandRecord, node: str) -> ProcessKeeper | None:
    """Return the supervisor of a worker that runs on this node."""
    launch, noted = records.read(record.launch_path), records.read(record.supervisor_path)
    if launch is None or noted is None or record.exit_path.exists():
        return None
    if launch["node"] != node or launch["labels"]["role"] != ProcessRole.WORKER:
        return None
    return ProcessKeeper(pid=noted["pid"], start_ticks=noted["start_ticks"])
