"""Which kinds of worker hosts does this installation have? Its own, and those of extensions.

An extension is any installed distribution with entry points in the group
`concertina.worker_hosts`, each naming a class that inherits from `WorkerHostKind`.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host_kind import WorkerHostKind

ENTRY_POINT_GROUP: Final = "concertina.worker_hosts"
_VARIABLE: Final = "CONCERTINA_WORKER_HOST"

BUILT_IN: Final = {
    "process": "cluster.process_host.kind:ProcessKind",
    "docker": "cluster.docker_host.kind:DockerKind",
    "ray": "cluster.ray_host.kind:RayKind",
    "simulated": "cluster.simulated_host.kind:SimulatedKind",
}


def chosen(variables: EnvironmentVariables, *, host_id: str) -> WorkerHostKind:
    """The kind that CONCERTINA_WORKER_HOST names, configured; no other is loaded.

    Raises:
        BadEnvironment: there is none of that name, it cannot be loaded, or a variable is not right.
    """
    known = _known()
    name = variables.choice(_VARIABLE, default=next(iter(BUILT_IN)), among=known)
    return _loaded(known[name]).read(variables, host_id=host_id)


def name_of(kind: WorkerHostKind) -> str:
    """Return the name by which a kind is chosen; of an extension's the name of its class."""
    its = f"{type(kind).__module__}:{type(kind).__qualname__}"
    return next((name for name, place in BUILT_IN.items() if place == its), its)


def _known() -> dict[str, EntryPoint]:
    """Return kinds by name; none of an extension takes the place of a built-in one."""
    ours = [EntryPoint(name, value, ENTRY_POINT_GROUP) for name, value in BUILT_IN.items()]
    known = {entry.name: entry for entry in ours}
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        known.setdefault(entry.name, entry)
    return known


def _loaded(entry: EntryPoint) -> type[WorkerHostKind]:
    try:
        kind = entry.load()
    except Exception as problem:  # somebody else's code: whatever it does, say which it was
        raise BadEnvironment(
            f"{_VARIABLE}={entry.name!r}: {entry.value} cannot be loaded: {problem!r}. Mend the"
            f" extension, or choose another host ({', '.join(BUILT_IN)})."
        ) from problem
    if isinstance(kind, type) and issubclass(kind, WorkerHostKind):
        return kind
    raise BadEnvironment(
        f"{_VARIABLE}={entry.name!r}: {entry.value} is no class that inherits from"
        f" {WorkerHostKind.__module__}.{WorkerHostKind.__name__}. Make it one."
    )
