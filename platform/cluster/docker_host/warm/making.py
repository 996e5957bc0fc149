"""How does a container begin that is to wait warm? Confined as a worker, and alone in the world."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, talking_to
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import containers, labels
from cluster.docker_host.container.blueprints import Blueprints
from cluster.docker_host.container.images import Images
from cluster.docker_host.container.node_memory import NodeMemory
from cluster.docker_host.record.warm_folders import MARK_INSIDE, ORDER_INSIDE, Kind, WarmFolders
from cluster.docker_host.warm.taking_over import PYTHON
from cluster.plain_python import read_at_import
from cluster.worker_host import Labels, Launch, Limits, Mount, Role, WarmWish

_PROGRAM: Final = "concertina_worker.warm_container"
_ROOM: Final = " " * 2048  # for the arguments that it shows once it is the process of a launch


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmMaking:
    """Makes them, for one installation."""

    blueprints: Blueprints
    connections: Connections
    images: Images
    folders: WarmFolders
    memory: NodeMemory
    modules: tuple[str, ...]  # what they import

    def kind(self, wish: WarmWish, image_id: str, endpoint: Endpoint) -> Kind:
        """As what those of a wish are started. Raises: HostUnavailable."""
        launch = self._launch("", wish.node, image_id, wish.env, 0)
        return Kind(
            node=wish.node,
            image_id=image_id,
            env=read_at_import(containers.environment(launch)),
            targets=frozenset({*wish.targets, containers.SCRATCH}),
            shm_bytes=self.memory.total(endpoint) // 2,  # any worker's is smaller
        )

    def begin(self, kind: Kind, endpoint: Endpoint) -> None:
        """Raises: HostUnavailable, docker.errors.APIError."""
        warm_id = uuid.uuid4().hex[:12]
        folder = self.folders.of(warm_id)
        folder.make(kind)
        launch = self._launch(warm_id, kind.node, kind.image_id, kind.env, kind.shm_bytes)
        launch = self.memory.bounded(launch, endpoint)  # until it gets that of a launch
        installation = self.blueprints.installation
        config = self.blueprints.of_kind(
            launch,
            labels=labels.of_warm(warm_id, node=kind.node, installation=installation),
            mounts=[Mount(source=folder.mounted(t), target=t) for t in sorted(kind.targets)],
            run_dir=folder.run_dir,
            network="none",
        )
        config = containers.over_volumes(config, self.images.volumes(kind.image_id, endpoint))
        client = self.connections.patient(endpoint)
        name = containers.warm_name_of(warm_id, installation=installation)
        with talking_to(endpoint):
            try:
                client.create_container_from_config(config, name)
                client.start(name)
            except docker.errors.APIError:
                folder.remove()  # the container is found without, and removed
                raise

    def _launch(
        self, warm_id: str, node: str, image_id: str, env: Mapping[str, str], shm_bytes: int
    ) -> Launch:
        """As if there were a launch; it runs nothing of any job."""
        who = Labels(process_id=warm_id, job_id="", role=Role.WORKER, attempt=0, fence=0)
        program = (PYTHON, "-m", _PROGRAM, ORDER_INSIDE, MARK_INSIDE, *self.modules, _ROOM)
        return Launch(
            labels=who,
            command=program,
            env=env,
            node=node,
            image=image_id,
            limits=Limits(shm_bytes=shm_bytes),
        )
