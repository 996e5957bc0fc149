"""What is Docker told when a container is made for a launch, and which folders are made for it?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.docker_host.container import containers, labels, secrets_file
from cluster.docker_host.container.containers import Confinement
from cluster.worker_host import Launch, Mount


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprints:
    """What the containers of one installation are made of."""

    installation: str
    state_dir: Path
    worker_image: str
    confinement: Confinement

    def of_launch(self, launch: Launch, *, run_dir: Path, network: str) -> dict[str, Any]:
        """The container of its process, and nobody else's."""
        aliases = [launch.alias] if launch.alias else []
        who = labels.of_process(launch.labels, node=launch.node, installation=self.installation)
        mounts = self.mounts(launch)
        secrets_file.write(run_dir, launch.secret_env)
        for mount in mounts:
            self.make(mount)
        secrets_mount = Mount(source=run_dir, target=secrets_file.MOUNTED_AT, is_writable=False)
        return {
            "Image": self.image(launch),
            "Entrypoint": containers.command(launch),
            "Cmd": [],
            "Env": [f"{name}={value}" for name, value in containers.environment(launch).items()],
            "User": self.confinement.user,
            "WorkingDir": containers.working_directory(launch),
            "StopSignal": "SIGTERM",
            "Labels": who,
            "HostConfig": containers.host_config(
                launch,
                self.confinement,
                network=network,
                mounts=(*mounts, secrets_mount),
            ),
            "NetworkingConfig": {"EndpointsConfig": {network: {"Aliases": aliases}}},
        }

    def mounts(self, launch: Launch) -> tuple[Mount, ...]:
        """Return what it asks for, and the scratch folder of a worker."""
        scratch = containers.scratch_of(launch, state_dir=self.state_dir)
        own = () if scratch is None else (Mount(source=scratch, target=containers.SCRATCH),)
        return (*launch.mounts, *own)

    def make(self, mount: Mount) -> None:
        """Make its folder; what is ours and written to belongs to the container's user."""
        if not (mount.is_writable and mount.is_ours):
            return  # somebody has put there what it is to see
        mount.source.mkdir(parents=True, exist_ok=True)
        if mount.source.is_relative_to(self.state_dir) and os.geteuid() == 0:
            uid, _, gid = self.confinement.user.partition(":")
            os.chown(mount.source, int(uid), int(gid or -1))

    def image(self, launch: Launch) -> str:
        return launch.image or self.worker_image

    def name(self, process_id: str) -> str:
        return containers.name_of(process_id, installation=self.installation)
