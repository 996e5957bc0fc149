"""What do pools and teams look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from concertina import words
from concertina.views.fitting import FittingTable
from concertina.views.jobs import live_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from concertina.documents import Job, NodeService, Pool, Team, TeamChange, TeamDetail


def overview(
    pools: Iterable[Pool], teams: Iterable[Team], jobs: Sequence[Job], *, head: str
) -> RenderableType:
    """The whole screen of `top`."""
    below: RenderableType = live_table(jobs) if jobs else Text("No live jobs.", style="italic")
    return Group(
        Text(head, style="bold"),
        Padding(pools_bars(pools), (1, 0, 0, 0)),
        Padding(teams_table(teams), (1, 0, 0, 0)),
        Padding(below, (1, 0, 0, 0)),
    )


def pools_bars(pools: Iterable[Pool]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for pool in pools:
        bar = ProgressBar(total=max(pool["gpus_total"], 1), completed=pool["gpus_used"], width=30)
        used = f"{pool['gpus_used']} of {pool['gpus_total']} GPUs in use"
        grid.add_row(f"pool {pool['name']}", bar, used, f"policy {pool['policy']}")
    return grid


def pools_table(pools: Iterable[Pool]) -> FittingTable:
    table = FittingTable(
        *("POOL", "GPU TYPE", "GPUS", "IN USE", "ONE MORE WOULD ADD", "POLICY"),
        first_to_go=("GPU TYPE", "ONE MORE WOULD ADD"),
    )
    for pool in pools:
        table.add_row(
            pool["name"],
            pool["gpu_type"],
            str(pool["gpus_total"]),
            str(pool["gpus_used"]),
            words.number(pool["price"]),
            pool["policy"],
        )
    return table


def pools_view(pools: Sequence[Pool]) -> RenderableType:
    """The table, and below it what pools do about machines of a cluster, if they do anything."""
    said = [Text(line) for pool in pools for line in _about_machines(pool)]
    return Group(pools_table(pools), Text(), *said) if said else pools_table(pools)


def _about_machines(pool: Pool) -> Iterator[str]:
    machines = pool.get("machines")  # of a service before this release: none
    if machines is None:
        return
    yield (
        f"{pool['name']} asks its cluster for machines: from {machines['nodes_min']} to"
        f" {machines['nodes_max']} nodes of {machines['gpus_per_node']} GPUs."
    )
    if machines["asked_since"]:
        yield f"  One was asked for {words.age(machines['asked_since'])} ago."
    if machines["note"]:
        yield f"  {machines['note']}"
    yield from (f"  {words.age(one['at'])} ago: {one['said']}" for one in machines["events"][:3])


def nodes_table(nodes: Iterable[NodeService]) -> FittingTable:
    table = FittingTable(
        *("NODE", "POOL", "STATE", "GPUS", "FREE", "CPUS", "MEMORY", "WHY"),
        first_to_go=("CPUS", "MEMORY", "POOL"),
    )
    for node in nodes:
        said = node["silent_reason"] or " ".join(node["complaints"])
        table.add_row(
            node["name"],
            node["pool"],
            _node_state(node),
            str(node["gpus"]),
            str(node["gpus"] - node["gpus_used"]),
            words.number(node["cpus"]),
            _memory(node["memory_bytes"]),
            words.first_line(said) or words.NOTHING,
        )
    return table


def _memory(size: int | None) -> str:
    return words.NOTHING if size is None else words.size(size)


def _node_state(node: NodeService) -> Text:
    """Say whether it takes new work; silent is worse than closed."""
    if node["silent_since"]:
        return Text(f"silent for {words.age(node['silent_since'])}", style="bold red")
    if node["is_draining"]:
        return Text("draining", style="yellow")
    return Text("ready", style="green") if node["is_schedulable"] else Text("cordoned", "yellow")


def teams_table(teams: Iterable[Team]) -> FittingTable:
    """The four numbers that belong together, and what waits."""
    table = FittingTable(
        *("TEAM", "GUARANTEED", "FAIR SHARE", "ALLOCATED", "BORROWED", "LENT", "LIMIT", "JOBS"),
        first_to_go=("LIMIT", "FAIR SHARE"),
    )
    for team in teams:
        limit = "none" if team["limit"] is None else str(team["limit"])
        table.add_row(
            team["name"],
            str(team["guaranteed"]),
            words.number(team["fair_share"]),
            str(team["allocated"]),
            str(team["borrowed"]),
            str(team["lent"]),
            limit,
            f"{team['running_jobs']} running, {team['waiting_jobs']} waiting",
        )
    return table


def network_of(team: TeamDetail | TeamChange) -> str:
    """Say it in a sentence, which ends with the list if there is one."""
    jobs = f"Jobs of {team['name']}"
    match team["network"]:
        case "listed":
            hosts = ", ".join(team["reachable"])
            return f"{jobs} reach, with `network: listed`: {hosts}."
        case "egress":
            return f"{jobs} reach, with `network: egress`, what their node reaches."
        case _:
            return f"{jobs} reach nobody but one another."
