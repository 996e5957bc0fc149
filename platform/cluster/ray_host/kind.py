"""How do the processes of jobs run on a Ray cluster? As the installation's variables say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from cluster.process_environments import ProcessEnvironments
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.user_settings import beyond_this_machine
from cluster.process_host.users.team_users import TeamUsers, is_root
from cluster.ray_host import shared_state
from cluster.ray_host.node_users import USERS
from cluster.source_root import SOURCE_ROOT
from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host import WorkerHost
from cluster.worker_host_kind import Installation, WorkerHostKind
from concertina_worker import protocol

if TYPE_CHECKING:
    from cluster.ray_host.link_process import Link

_ADDRESS: Final = "CONCERTINA_RAY_ADDRESS"
_TOKEN_FILE: Final = "CONCERTINA_RAY_TOKEN_FILE"  # noqa: S105 - a name
_UNPROTECTED: Final = "CONCERTINA_RAY_UNPROTECTED"
_FIRST_UID: Final = "CONCERTINA_RAY_FIRST_UID"
_FIRST_OF_PEOPLE: Final = 1000  # smaller numbers are the system's
_LAST_USER: Final = 2**32 - 3
_HIGHEST_PORT: Final = 65_535
_PASSED_ON: Final = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ")
_RAY_SETTINGS: Final = {  # an admin may set others
    "RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL": "minor",  # else patch levels have to be the same
    "RAY_gcs_rpc_server_reconnect_timeout_s": "600",  # 60 would end the link with a slow head
    "RAY_USAGE_STATS_ENABLED": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RayKind(WorkerHostKind):
    """Processes on the nodes of one Ray cluster."""

    follows_a_cluster: ClassVar[bool] = True
    why_no_shells: ClassVar[str] = (
        "On a Ray cluster nothing can be started beside a worker yet. Log in to its node, which"
        " `concertina describe` names, and look there."
    )
    node_url_name: ClassVar[str] = "Ray node"
    node_url_help: ClassVar[str] = (
        "Leave it empty: a node is found by its name, which is its label concertina.io/node in Ray,"
        " or else its host's name."
    )

    address: str  # of the cluster's head
    token_file: Path | None  # None: whoever reaches the cluster owns it, as an admin said
    python: Path  # of the link: has the cluster's Ray
    node_dir: PurePosixPath  # on each node's own disk
    worker_python: PurePosixPath  # on each node: has the worker runtime
    team_users: TeamUsers | None  # on nodes; None: all processes are the user of Ray's own
    is_everybody_trusted: bool  # CONCERTINA_TRUST_ALL_JOBS

    @classmethod
    def read(cls, variables: EnvironmentVariables, *, host_id: str) -> Self:
        _check_host_id(host_id)
        return cls(
            address=_address(variables),
            token_file=_token_file(variables),
            python=_interpreter(variables),
            node_dir=_absolute(
                variables,
                "CONCERTINA_RAY_NODE_DIR",
                default="/var/tmp/concertina",  # noqa: S108 - it outlives a boot, and agents close it
            ),
            worker_python=_absolute(
                variables, "CONCERTINA_RAY_WORKER_PYTHON", default=sys.executable
            ),
            team_users=_team_users(variables),
            is_everybody_trusted=variables.boolean("CONCERTINA_TRUST_ALL_JOBS", default=False),
        )

    @property
    def why_jobs_are_trusted(self) -> str:
        if self.team_users is not None:
            return ""
        return (
            "on a Ray cluster they run as the user of Ray's own processes, and can read the token"
            " with which whoever has it owns every node"
        )

    @property
    def why_pools_serve_one_team(self) -> str:
        """See the port. A node that cannot keep teams apart though it should takes no work."""
        if self.team_users is not None:
            return ""
        return (
            "on its nodes processes of all teams are one user, because"
            f" {_FIRST_UID} is not set (docs/operations/ray.md)"
        )

    def check(self, installation: Installation) -> None:
        if self.team_users is not None and not is_root():
            raise BadEnvironment(
                f"{_FIRST_UID} is set, so checkpoints belong to users of teams, and the service"
                " has to be root to read and remove them. Run all of its processes as root, or"
                f" leave {_FIRST_UID} out: then a pool serves one team."
            )
        opened = beyond_this_machine(installation.service_url, installation.allowed_hosts)
        if opened and self.why_jobs_are_trusted and not self.is_everybody_trusted:
            raise BadEnvironment(
                f"{opened} opens the service to other machines, while jobs are trusted:"
                f" {self.why_jobs_are_trusted}. Set CONCERTINA_TRUST_ALL_JOBS=yes if everybody who"
                f" may submit may also do all this; set {_FIRST_UID} where Ray runs as root; or use"
                " containers (CONCERTINA_WORKER_HOST=docker)."
            )

    def complaint_of_node_url(self, url: str) -> str:
        return f"{self.node_url_help}" if url else ""

    def host(self, installation: Installation) -> WorkerHost:
        # Here, because only control has one, and models are not loaded when kinds are.
        from cluster.ray_host.host import RayHost  # noqa: PLC0415
        from cluster.ray_host.nodes import NodeRows  # noqa: PLC0415

        return RayHost(
            state_dir=installation.state_dir,
            link=self.link(host_id=installation.host_id, state_dir=installation.state_dir),
            nodes=NodeRows(),
            worker_python=str(self.worker_python),
            log_bounds=installation.log_bounds,
        )

    def link(self, *, host_id: str, state_dir: Path, only_looks: bool = False) -> Link:
        """Return a way into the cluster, which nobody has gone yet.

        `only_looks`: it makes no agents and no leases, and ends none.

        Raises:
            OSError, ValueError: what the service left in its state folder cannot be read.
        """
        from cluster.ray_host.link_process import Link  # noqa: PLC0415 - only control has one

        return Link(
            command=link_command(self.python),
            env=link_environment(os.environ, token_file=self.token_file),
            options=link_options(
                address=self.address,
                installation=host_id,
                node_dir=self.node_dir,
                state_dir=state_dir,
                worker_python=self.worker_python,
                first_user=None if self.team_users is None else self.team_users.first,
                only_looks=only_looks,
            ),
        )

    def process_environments(self, installation: Installation) -> ProcessEnvironments:
        return MachineEnvironments(
            state_dir=installation.state_dir,
            service_url=installation.internal_url,
            interpreter=Path(self.worker_python),
            team_users=self.team_users,
        )


def link_command(python: Path) -> tuple[str, ...]:
    return (str(python), "-P", "-m", "cluster.ray_host.link")


def link_options(
    *,
    address: str,
    installation: str,
    node_dir: PurePath,
    state_dir: Path,
    worker_python: PurePath,
    first_user: int | None = None,
    only_looks: bool = False,
) -> dict[str, Any]:
    """Return the link's first line; leaves a word in the state folder by which nodes know it.

    `only_looks`: leaves none, and asks for what the service left there.
    """
    return {
        "address": address,
        "only_looks": only_looks,
        "installation": installation,
        "node_dir": str(node_dir),
        "asked_of_nodes": {
            "state_dir": str(state_dir),
            "word": (shared_state.left_in if only_looks else shared_state.word_of)(state_dir),
            "worker_python": str(worker_python),
            **({} if first_user is None else {"first_user": first_user}),
        },
    }


def link_environment(environ: Mapping[str, str], *, token_file: Path | None) -> dict[str, str]:
    """Return what the link sees: Ray's own variables, TLS among them, and nothing else of ours."""
    given = {name: value for name, value in environ.items() if name.startswith("RAY_")}
    shared = {name: environ[name] for name in _PASSED_ON if name in environ}
    worker_package = Path(protocol.__file__).resolve().parents[1]
    found = {"PYTHONPATH": os.pathsep.join((str(SOURCE_ROOT), str(worker_package)))}
    if token_file is None:
        protection = {"RAY_AUTH_MODE": "disabled"}
    else:
        protection = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token_file)}
    return {**_RAY_SETTINGS, **given, **shared, **found, **protection}


def _check_host_id(host_id: str) -> None:
    """Raises: BadEnvironment, where it cannot be a part of actors' and folders' names."""
    if not host_id or not set(host_id) <= set(_NAME):
        raise BadEnvironment(
            f"CONCERTINA_HOST_ID={host_id!r}: agents and folders on Ray's nodes are named after it."
            " Use letters, digits, '-', '_' and '.' only."
        )


_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."


def _address(variables: EnvironmentVariables) -> str:
    given = variables.text(_ADDRESS, default="")
    host, _, port = given.rpartition(":")
    if host and "/" not in host and port.isdecimal() and 0 < int(port) <= _HIGHEST_PORT:
        return given
    raise BadEnvironment(
        f"{_ADDRESS}={given!r}: write HOST:PORT of the cluster's head, such as ray-head:6379. This"
        " machine needs a Ray node of that cluster, which may be without any resources: ray start"
        " --address=HOST:PORT --num-cpus=0 --num-gpus=0."
    )


def _token_file(variables: EnvironmentVariables) -> Path | None:
    given = variables.text(_TOKEN_FILE, default="")
    is_unprotected = variables.boolean(_UNPROTECTED, default=False)
    if given and is_unprotected:
        raise BadEnvironment(f"{_TOKEN_FILE} and {_UNPROTECTED} are both set. Remove one of them.")
    if is_unprotected:
        return None
    if not given:
        raise BadEnvironment(
            f"{_TOKEN_FILE} is not set. Let it name the file with the cluster's token (ray"
            f" get-auth-token --generate makes one), or set {_UNPROTECTED}=yes if whoever reaches"
            " the cluster's ports may own it."
        )
    variables.secret(_TOKEN_FILE.removesuffix("_FILE"))
    return Path(given).absolute()


def _team_users(variables: EnvironmentVariables) -> TeamUsers | None:
    given = variables.text(_FIRST_UID, default="")
    if not given:
        return None
    if not given.isdecimal() or not _FIRST_OF_PEOPLE <= int(given) <= _LAST_USER - USERS:
        raise BadEnvironment(
            f"{_FIRST_UID}={given!r}: write the first of {USERS} numbers of users that nobody else"
            " on the nodes is, such as 1900000000; each team takes two."
        )
    if variables.boolean(_UNPROTECTED, default=False):
        raise BadEnvironment(
            f"{_FIRST_UID} and {_UNPROTECTED} are both set: in a cluster without a token every job"
            " can have programs run as Ray's own user, which keeps no team from another. Give the"
            f" cluster a token, or leave {_FIRST_UID} out."
        )
    first = int(given)
    remedy = (
        f"There are numbers for {USERS // 2 - 1} teams from {_FIRST_UID} on. Let an administrator"
        " give further ones an installation of their own."
    )
    return TeamUsers(first=first, last=first + USERS - 1, remedy=remedy)


def _interpreter(variables: EnvironmentVariables) -> Path:
    given = Path(variables.text("CONCERTINA_RAY_PYTHON", default=sys.executable))
    if given.is_absolute() and os.access(given, os.X_OK) and given.is_file():
        return given
    raise BadEnvironment(
        f"CONCERTINA_RAY_PYTHON={str(given)!r}: name the Python, by its whole path, that has the"
        " cluster's Ray and its minor version of Python."
    )


def _absolute(variables: EnvironmentVariables, name: str, *, default: str) -> PurePosixPath:
    given = PurePosixPath(variables.text(name, default=default))
    if given.is_absolute() and ".." not in given.parts:
        return given
    raise BadEnvironment(f"{name}={str(given)!r}: write a whole path, beginning with /.")
