"""How long has a container waited that is not warm yet? By our clock: its node's may be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import containers, labels
from cluster.docker_host.record.records import Records
from cluster.docker_host.record.warm_folders import Kind, WarmFolders
from cluster.docker_host.warm.waiting import WaitingRoom

ENDPOINT = Endpoint(url="unix:///nowhere")
LONG_AGO = 1_700_000_000  # when it was made, says the node


class Daemon:
    """One container that waits. Stands for its connections as well."""

    def quick(self, _: Endpoint) -> Daemon:
        return self

    def containers(self, **_: Any) -> list[dict[str, Any]]:
        return [
            {
                "Id": "c1",
                "Names": [f"/{containers.warm_name_of('warm1', installation='t')}"],
                "State": "running",
                "Created": LONG_AGO,
                "Labels": labels.of_warm("warm1", node="n1", installation="t"),
            }
        ]


def test_one_that_was_just_made_is_not_stuck_whatever_its_nodes_clock_says(tmp_path: Path) -> None:
    folders = WarmFolders(state_dir=tmp_path)
    connections: Any = Daemon()
    room = WaitingRoom(
        installation="t",
        connections=connections,
        records=Records(state_dir=tmp_path),
        folders=folders,
    )
    kind = Kind(node="n1", image_id="i1", env={}, targets=frozenset(), shm_bytes=1)
    folders.of("warm1").make(kind)
    (waiting,) = room.look(ENDPOINT, {"n1": ENDPOINT})
    assert (waiting.is_stuck, waiting.is_getting_warm) == (False, True)
