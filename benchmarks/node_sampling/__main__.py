"""What does it cost to read what workers take? Run `python -m benchmarks.node_sampling`.

Starts workers under the process host, each with processes of its own as loaders are, and looks at
them as the control loop does. Prints the processor time of a look, and which part of a core that is
at one look in ten seconds; fails above the bound of half a percent. GPUs are read where there are
some.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from cluster.process_host.gauge import ProcessGauge
from cluster.process_host.host import ProcessHost
from cluster.process_host.sweep import sweep
from cluster.usage.readings import SAMPLE_SECONDS
from cluster.worker_host import Labels, Launch, ProcessRole

BOUND: Final = 0.005  # of a core
LOOKS: Final = 50
LOADERS: Final = 4  # processes of each worker


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="node-sampling-") as folder:
        state_dir = Path(folder)
        host = ProcessHost(state_dir=state_dir)
        host.start(*(_launch(number) for number in range(options.workers)))
        try:
            return _measure(host)
        finally:
            sweep(state_dir, grace_seconds=0.0)


def _launch(number: int) -> Launch:
    loaders = "; ".join(["sleep 1000 &"] * LOADERS).replace("&;", "&")
    labels = Labels(
        process_id=f"w{number}", job_id="job", role=ProcessRole.WORKER, attempt=1, fence=1
    )
    return Launch(labels=labels, command=("sh", "-c", f"{loaders} wait"), env={}, node="n1")


def _measure(host: ProcessHost) -> int:
    gauge = host.gauge
    assert isinstance(gauge, ProcessGauge)
    while len(gauge.read("n1").processes) < len(host.list().processes):
        time.sleep(0.1)
    took = []
    for _ in range(LOOKS):
        began = time.process_time()
        gauge.read("n1")
        took.append(time.process_time() - began)
    share = median(took) / SAMPLE_SECONDS
    machine = sum(entry.isdigit() for entry in os.listdir("/proc"))  # noqa: PTH208 - names are all we need
    sys.stdout.write(
        f"{len(host.list().processes)} workers on a machine of {machine} processes: a look takes"
        f" {median(took) * 1000:.1f} ms (at most {max(took) * 1000:.1f}), {share:.3%} of a core\n"
    )
    return int(share > BOUND)


if __name__ == "__main__":
    sys.exit(main())
