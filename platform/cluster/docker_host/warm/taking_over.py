"""How does a container that waits warm become the process of a launch? Step by step, or not at all.

The one that takes it over holds the lock of the process's record.

1. It renames the container's folder into that record, which only one can do.
2. The folders that the container sees get the names under which the launch wants them mounted.
3. The container joins the job's network, and gets the limits of the launch.
4. It gets the name of the process, under which everybody finds it.
5. It is given its order. Only now it is the process; before, it ran nothing of any job.

Who dies between two steps leaves a record with a container that was never ordered. Whoever sees
that next removes both, and the process is started in the ordinary way.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import docker.errors

from cluster.docker_host.connection.connections import Client, Connections, talking_to
from cluster.docker_host.connection.endpoint import Endpoint, Place
from cluster.docker_host.container import containers
from cluster.docker_host.container.blueprints import Blueprints
from cluster.docker_host.container.images import Images
from cluster.docker_host.container.networks import Networks
from cluster.docker_host.container.observing import RUNNING
from cluster.docker_host.record.adoption import Adoption
from cluster.docker_host.record.records import Record
from cluster.docker_host.record.warm_folders import Kind, WarmFolder, WarmFolders, move
from cluster.plain_python import names_code, names_script_or_module, read_at_import
from cluster.worker_host import Launch, Mount, Role

PYTHON: Final = "python"  # as commands of plain jobs begin, and those of containers that wait
_PERIOD_MICROSECONDS: Final = 100_000  # of the share of the cores, the kernel's default

_log: Final = logging.getLogger(__name__)


class _Impossible(Exception):
    """This one cannot be taken over after all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingOver:
    """Takes over containers of one installation."""

    blueprints: Blueprints
    connections: Connections
    images: Images
    networks: Networks
    folders: WarmFolders
    adoption: Adoption

    def attempt(self, launch: Launch, place: Place, record: Record) -> bool:
        """Whether the process runs now, in a container that waited.

        Raises:
            HostUnavailable: it does not; what was begun is cleared away before the next start.
        """
        for warm_id in self.candidates(launch, place.endpoint):
            taken = self.folders.take(warm_id, record.warm.folder)
            if taken is not None:
                return self._become(launch, place, record, taken, warm_id)
        return False

    def candidates(self, launch: Launch, endpoint: Endpoint) -> Iterator[str]:
        """The ids of those that wait and suit it."""
        waiting = self.folders.all()
        if not waiting or not self._could_be_warm(launch):
            return
        wanted = self._kind(launch, endpoint)
        for warm_id, folder in waiting.items():
            if _fits(folder.kind(), wanted) and folder.is_warm:
                yield warm_id

    def _could_be_warm(self, launch: Launch) -> bool:
        """Whether it is plain Python on slots, and the first of its job to see its folders."""
        env = {**launch.env, **launch.secret_env}
        program, *arguments = launch.command
        return (
            launch.labels.role is Role.WORKER
            and not launch.gpu_names
            and program == PYTHON
            and names_script_or_module(arguments)
            and not names_code(env)
            and all(_is_new(mount) for mount in self.blueprints.mounts(launch))
        )

    def _kind(self, launch: Launch, endpoint: Endpoint) -> Kind | None:
        image_id = self.images.id_of(self.blueprints.image(launch), endpoint)
        if image_id is None:
            return None
        return Kind(
            node=launch.node,
            image_id=image_id,
            env=read_at_import({**containers.environment(launch), **launch.secret_env}),
            targets=frozenset(mount.target for mount in self.blueprints.mounts(launch)),
            shm_bytes=containers.shm_bytes(launch.limits),
        )

    def _become(
        self, launch: Launch, place: Place, record: Record, taken: WarmFolder, warm_id: str
    ) -> bool:
        mounts = self.blueprints.mounts(launch)
        try:
            if not move(taken.mounted(mounts[0].target), mounts[0].source):
                self.folders.give_back(taken, warm_id)  # another worker of the job was quicker
                return False
            self._hand_over(launch, place, record, self._warm_name(warm_id))
        except (docker.errors.APIError, OSError, _Impossible) as problem:
            note = {"action": "take_over", "process_id": record.process_id}
            _log.warning("A warm container is not used: %s", problem, extra=note)
            self.adoption.clear(record, (place.endpoint,))
            _remove_marks(mounts)
            return False
        return True

    def _hand_over(self, launch: Launch, place: Place, record: Record, name: str) -> None:
        for mount in self.blueprints.mounts(launch)[1:]:
            if not move(record.warm.mounted(mount.target), mount.source):
                raise _Impossible(f"{mount.source} is there already")
        client = self.connections.patient(place.endpoint)
        with talking_to(place.endpoint):
            self._prepare(client, launch, place, name)
            client.rename(name, self.blueprints.name(record.process_id))
        record.warm.order(_order(launch))

    def _prepare(self, client: Client, launch: Launch, place: Place, name: str) -> None:
        status = client.inspect_container(name)["State"]["Status"]
        if status not in RUNNING:
            raise _Impossible(f"{name} is {status}")
        client.update_container(name, **_limits(launch))
        network = self.networks.of_job(launch.labels.job_id, place.endpoint, place.daemons)
        client.disconnect_container_from_network(name, "none")
        aliases = [launch.alias] if launch.alias else []
        client.connect_container_to_network(name, network, aliases=aliases)

    def _warm_name(self, warm_id: str) -> str:
        return containers.warm_name_of(warm_id, installation=self.blueprints.installation)


def _fits(kind: Kind | None, wanted: Kind | None) -> bool:
    """Shared memory keeps its size, and may be larger: the limit of memory holds for it, too."""
    if kind is None or wanted is None or kind.shm_bytes < wanted.shm_bytes:
        return False
    same = (wanted.node, wanted.image_id, wanted.env, wanted.targets)
    return (kind.node, kind.image_id, kind.env, kind.targets) == same


def _is_new(mount: Mount) -> bool:
    """Nobody has its folder mounted: it is not there yet."""
    return mount.is_writable and not mount.source.exists()


def _limits(launch: Launch) -> dict[str, int]:
    memory = containers.memory_bytes(launch.limits)
    limits = {
        "mem_limit": memory,
        "memswap_limit": memory,  # together: no swap
        "cpu_shares": containers.cpu_shares(launch.limits),
    }
    if launch.limits.cpus is not None:
        quota = round(launch.limits.cpus * _PERIOD_MICROSECONDS)
        limits |= {"cpu_period": _PERIOD_MICROSECONDS, "cpu_quota": quota}
    return limits


def _order(launch: Launch) -> Mapping[str, Any]:
    """As `concertina_worker.warm_container` reads it."""
    return {
        "arguments": list(launch.command[1:]),
        "env": {**containers.environment(launch), **launch.secret_env},
        "workdir": containers.working_directory(launch),
    }


def _remove_marks(mounts: Iterable[Mount]) -> None:
    """The folders stay: another worker of the job may have begun to use them."""
    for mount in mounts:
        WarmFolder.mark_in(mount.source).unlink(missing_ok=True)
