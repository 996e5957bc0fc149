"""What is left for a node that is given up while its agent is made; Ray is written by hand."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("ray")

from cluster.ray_host.link import agents
from cluster.ray_host.link.agents import Agents, NoAgent
from cluster.ray_host.link.membership import RayNode

from tests.contract.conftest import until

NODE = RayNode(name="n1", ray_id="0123456789abcdef", gpus=8, cpus=8)


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of those that Ray has."""
    made: set[str] = set()

    def table() -> dict[str, Any]:
        return {name: {"name": name, "state": "CREATED"} for name in made}

    monkeypatch.setattr(agents, "placement_group_table", table)
    monkeypatch.setattr(agents, "list_named_actors", list)
    monkeypatch.setattr(agents, "get_placement_group", lambda name: name)
    monkeypatch.setattr(agents, "remove_placement_group", made.discard)
    return made


def test_a_node_that_is_given_up_while_its_agent_is_made_leaves_no_lease(
    leases: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's autoscaler would keep its machine, which nobody uses, until some node changes."""
    begun, is_given_up, is_made = (threading.Event() for _ in range(3))

    def made(*_: Any) -> None:
        begun.set()
        assert is_given_up.wait(60.0)
        leases.add("ours:n1:0123456789abcdef")
        is_made.set()
        raise NoAgent("no torch there")

    monkeypatch.setattr(Agents, "_made", made)
    ours = Agents(installation="ours", node_dir="/nodes", asked_of_nodes={})
    ours.keep({"n1"}, [NODE])
    seeking = threading.Thread(target=ours.seek, args=({NODE: 8},))
    seeking.start()
    assert begun.wait(60.0)
    ours.keep(set(), [NODE])
    until(lambda: all(thread.name != "tidy" for thread in threading.enumerate()))
    is_given_up.set()
    seeking.join()
    assert is_made.wait(60.0)
    until(lambda: not leases)
