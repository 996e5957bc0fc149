"""What does a Ray cluster cost a process, beside the same machine without Ray?

Run `python -m benchmarks.ray_host`. Starts a head and two nodes of this machine, and asks both
hosts the same in turns, so that whatever else the machine does slows both. Prints medians of each
and how many times the first the second is; then what the log, the link and an agent take.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

from cluster.process_host.host import ProcessHost
from cluster.process_host.sweep import sweep
from cluster.ray_host.host import RayHost
from cluster.ray_host.kind import link_command, link_environment, link_options
from cluster.ray_host.link_process import Link
from cluster.worker_host import HostUnavailable, Labels, Launch, ProcessRole, WorkerHost
from local_stack import checkout as checkouts
from local_stack.processes import own_ray
from local_stack.processes.own_ray import OwnRay
from local_stack.processes.supervisor import StackSupervisor

NODES: Final = ("n1", "n2")
INSTALLATION: Final = "benchmark"
JOB: Final = "job"
PATIENCE_SECONDS: Final = 300.0
LOOKS_A_SECOND: Final = 4
TICKS: Final = os.sysconf("SC_CLK_TCK")

_numbers: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Both hosts on one machine."""

    plain: ProcessHost
    ray: RayHost

    def start(self, host: WorkerHost, *command: str) -> str:
        number = next(_numbers)
        process_id = f"p{number}"
        labels = Labels(
            process_id=process_id, job_id=JOB, role=ProcessRole.WORKER, attempt=1, fence=1
        )
        node = NODES[number % len(NODES)]
        host.start(Launch(labels=labels, command=command or ("sleep", "600"), env={}, node=node))
        return process_id

    def compare(self, what: str, measure: Callable[[WorkerHost], float], rounds: int) -> None:
        """In turns; prints medians."""
        pairs = [(measure(self.plain), measure(self.ray)) for _ in range(rounds)]
        plain, ray = (median(column) * 1000 for column in zip(*pairs, strict=True))
        print(f"{what:34} process {plain:7.1f} ms   ray {ray:7.1f} ms   {ray / plain:5.2f} times")

    def seconds_until_seen(self) -> float:
        """From the moment a process writes a line until a reader of logs has it."""
        process_id = self.start(self.ray, "sh", "-c", "date +%s.%N; exec sleep 600")

        def lines() -> list[str]:
            found = self.ray.logs((process_id,), job_id=JOB)
            return [line.text for line in found]

        until(lambda: bool(lines()))
        return time.time() - float(lines()[0])


def seconds_of(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def until(is_so: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < give_up_at, "it did not come true in time"
        time.sleep(0.02)


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """Ray is started for it, and ended with all that runs on its nodes."""
    checkout = checkouts.find(home=folder / "home")
    checkout.make_folders()
    supervisor = StackSupervisor(say=lambda said: print(said, file=sys.stderr))
    cluster = own_ray.prepare(checkout, preferred_port=checkout.preferred_port)
    try:
        for spec in cluster.specs(NODES, slots=2, has_gpus=False):
            supervisor.start(spec)
        host = ray_host(cluster, folder / "state")
        until(lambda: all_answer(host))
        yield Bench(plain=ProcessHost(state_dir=folder / "plain"), ray=host)
        host.close()
    finally:
        for place in (folder / "plain", *(cluster.nodes_dir / INSTALLATION).glob("*")):
            sweep(place, grace_seconds=0.0)
        supervisor.stop()


def ray_host(cluster: OwnRay, state_dir: Path) -> RayHost:
    variables = cluster.environment()
    python = Path(sys.executable)
    link = Link(
        command=link_command(python),
        env=link_environment(os.environ, token_file=cluster.token_file),
        options=link_options(
            address=variables["CONCERTINA_RAY_ADDRESS"],
            installation=INSTALLATION,
            node_dir=cluster.nodes_dir,
            state_dir=state_dir,
            worker_python=python,
        ),
    )
    return RayHost(
        state_dir=state_dir,
        link=link,
        nodes=lambda: dict.fromkeys(NODES, 2),
        answer_seconds=60.0,  # a slow answer is to be measured, not to be refused
    )


def all_answer(host: RayHost) -> bool:
    try:
        return not host.list().silent_nodes
    except HostUnavailable:
        return False


def processes(word: str) -> list[int]:
    """Those of this machine whose command has the word in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if word in command and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(pid: int) -> float:
    """Its proportional share of memory (PSS)."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    match = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert match is not None
    return int(match[1]) / 1024


def share_at_rest(host: RayHost, pid: int, seconds: float) -> float:
    """Of a core, that the link takes while it is asked a few times a second."""
    began, spent = time.monotonic(), processor_seconds(pid)
    while time.monotonic() - began < seconds:
        host.list()
        time.sleep(1 / LOOKS_A_SECOND)
    return (processor_seconds(pid) - spent) / (time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rest-seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cray-") as folder, bench(Path(folder)) as both:
        both.start(both.plain)
        both.start(both.ray)
        rounds: int = options.rounds
        both.compare("start of a process", lambda one: seconds_of(lambda: both.start(one)), rounds)
        running = len(both.ray.list().processes)
        both.compare(f"list of {running} on 2 nodes", lambda one: seconds_of(one.list), 4 * rounds)
        seen = median(both.seconds_until_seen() for _ in range(5))
        print(f"a line of a log is seen after      {seen * 1000:7.1f} ms")
        (link,) = [
            pid for pid in processes("cluster.ray_host.link") if _parent_of(pid) == os.getpid()
        ]
        share = share_at_rest(both.ray, link, options.rest_seconds)
        print(f"the link, {LOOKS_A_SECOND} looks a second          {share:7.1%} of a core")
        agents = [megabytes(pid) for pid in processes("ray::Agent")]
        print(f"memory: the link {megabytes(link):.0f} MB, an agent {median(agents):.0f} MB (PSS)")


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


if __name__ == "__main__":
    main()
