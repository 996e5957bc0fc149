"""What is to be known of an installation's Ray cluster? `python -m cluster.ray_host.inspection`.

It reads the service's variables, goes into the cluster as the service would, and changes nothing
there: it asks Ray which machines there are, and agents that the service has made how they are. It
makes none, and ends none of another release. What it finds are lines of JSON, each with what to do;
`./dev doctor` prints them for people.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cluster.following.roster import Roster, RosterMachine
from cluster.ray_host import wire
from cluster.ray_host.kind import RayKind
from cluster.ray_host.link_process import Link
from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host import HostUnavailable

_SECONDS: Final = 90.0  # a link gives Ray 60
_AGENTS_SECONDS: Final = 60.0  # each tries first whether jobs can run there
_LOOK_SECONDS: Final = 0.5
_POOL_LABEL: Final = "concertina.io/pool"
_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionLine:
    """One thing looked at: `ok`, `warn` (something of it is not used), or `fail` (none is)."""

    level: str
    text: str
    remedy: str = ""


def inspect(link: Link, address: str) -> Iterator[InspectionLine]:
    """Yield what is found; takes as long as Ray does to let a program in, or not."""
    try:
        roster = _roster(link)
        answers, silent = _of_agents(link, {machine.name for machine in roster.machines})
    except HostUnavailable as problem:
        yield InspectionLine(level="fail", text=f"the Ray cluster at {address}: {problem}")
        return
    yield from lines_of(roster, answers, silent, address=address)


def _of_agents(
    link: Link, names: Collection[str]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Return what each machine's agent tells, and why others do not; one may just be looked for."""
    answers: dict[str, Mapping[str, Any]] = {}
    silent: dict[str, str] = {}
    give_up_at = time.monotonic() + _AGENTS_SECONDS
    while True:
        question = wire.question("tell_machine", time=time.time())
        reply = _asked(link, {"questions": dict.fromkeys(names, question), "slots": None})
        answers.update(reply["answers"])
        silent.update(reply["silent"])
        names = [name for name in names if reply["silent"].get(name) == wire.BEING_STARTED]
        if not names or time.monotonic() > give_up_at:
            return answers, {name: why for name, why in silent.items() if name not in answers}
        time.sleep(_LOOK_SECONDS)


def lines_of(
    roster: Roster,
    answers: Mapping[str, Mapping[str, Any]],
    silent: Mapping[str, str],
    *,
    address: str,
) -> Iterator[InspectionLine]:
    """Say in words what Ray and the agents told. `answers`, `silent`: by machine."""
    machines = [machine for machine in roster.machines if machine.gpus or machine.cpus]
    yield _cluster(machines, address)
    for name, why in sorted(roster.unusable.items()):
        yield InspectionLine(level="warn", text=f"Ray node {name}: {why}")
    yield from _unequal(machines)
    for machine in machines:
        name = machine.name
        answer = answers.get(name, {})
        why = answer.get("unavailable") or silent.get(name, "")
        if why and why != wire.NOT_LOOKED_AT and name not in roster.unusable:
            yield InspectionLine(level="warn", text=f"Ray node {name}: {why}")
        for complaint in answer.get("answer", {}).get("complaints", ()):
            yield InspectionLine(level="warn", text=f"Ray node {name}: {complaint}")
        if machine.leaving_because:
            yield InspectionLine(level="warn", text=f"Ray node {name}: {machine.leaving_because}")


def _cluster(machines: Sequence[RosterMachine], address: str) -> InspectionLine:
    if not machines:
        return InspectionLine(
            level="fail",
            text=f"the Ray cluster at {address} has no node with GPUs or processors",
            remedy=f"Start one: ray start --address={address} --labels=concertina.io/node=NAME",
        )
    names = sorted(machine.name for machine in machines)
    more = f", and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    gpus = sum(machine.gpus for machine in machines)
    text = f"the Ray cluster at {address} has {len(names)} nodes with {gpus} GPUs"
    return InspectionLine(level="ok", text=f"{text}: {', '.join(names[:_MOST_NAMED])}{more}")


def _unequal(machines: Sequence[RosterMachine]) -> Iterator[InspectionLine]:
    gpus: defaultdict[str, set[int]] = defaultdict(set)
    for machine in machines:
        if pool := machine.labels.get(_POOL_LABEL):
            gpus[pool].add(machine.gpus)
    for pool, numbers in sorted(gpus.items()):
        if len(numbers) > 1:
            listed = ", ".join(map(str, sorted(numbers)))
            yield InspectionLine(
                level="warn",
                text=f"nodes of {_POOL_LABEL}={pool} have different numbers of GPUs ({listed})",
                remedy="Give each group of machines a label and a pool of its own, or set"
                " gpus_per_node.",
            )


def _roster(link: Link) -> Roster:
    reply = _asked(link, {"roster": True})
    return wire.roster_of(reply["machines"], reply["unusable"])


def _asked(link: Link, request: Mapping[str, Any]) -> Mapping[str, Any]:
    reply = link.ask({**request, "seconds": _SECONDS}, seconds=_SECONDS + 3.0)
    if "trouble" in reply:
        raise HostUnavailable(reply["trouble"])
    return reply


def _of_environment(variables: EnvironmentVariables) -> Iterator[InspectionLine]:
    host_id = variables.text("CONCERTINA_HOST_ID", default="local")
    state_dir = Path(variables.text("CONCERTINA_STATE", default=".concertina/state")).absolute()
    try:
        kind = RayKind.read(variables, host_id=host_id)
        link = kind.link(host_id=host_id, state_dir=state_dir, only_looks=True)
    except BadEnvironment as problem:
        yield InspectionLine(level="fail", text=str(problem))
        return
    except (OSError, ValueError) as problem:
        text = f"what the service left in CONCERTINA_STATE={state_dir} cannot be read: {problem}"
        remedy = "Look at the cluster as the service's user, and with its CONCERTINA_STATE."
        yield InspectionLine(level="fail", text=text, remedy=remedy)
        return
    try:
        yield from inspect(link, kind.address)
    finally:
        link.close()


def main() -> None:
    for line in _of_environment(EnvironmentVariables(dict(os.environ))):
        sys.stdout.write(json.dumps(asdict(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
