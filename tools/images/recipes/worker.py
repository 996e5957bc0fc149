"""What is in the worker image, and what do the examples need on top of it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from local_stack.checkout import ROOT
from local_stack.containers import image_names

from tools.images import inputs, project
from tools.images.contents import distributions, interpreter, system
from tools.images.contents.tree import Tree
from tools.images.image import Image

RUNTIME = "opt/concertina"  # of which a user's own image may take a copy
EXAMPLES = "examples"
_TOOLS_OF_AN_IMAGE = ("pip",)  # so that `RUN pip install` works in images on top


def _packages() -> tuple[Distribution, ...]:
    return distributions.with_dependencies(
        (*project.requirements("worker"), *_installed(_TOOLS_OF_AN_IMAGE))
    )


def _installed(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        yield name


def _sources() -> list[Path]:
    return sorted((ROOT / "worker_image" / "concertina_worker").rglob("*.py"))


def _fill(tree: Tree) -> None:
    system.add(tree)
    interpreter.add(tree)
    distributions.add(tree, _packages())
    tree.add_sources(RUNTIME, ROOT / "worker_image", _sources())
    tree.add_text(f"{interpreter.PACKAGES}/concertina_worker.pth", f"/{RUNTIME}\n")


def _packages_of_examples() -> tuple[Distribution, ...]:
    there = [package.metadata["Name"] for package in _packages()]
    return distributions.with_dependencies(project.requirements("demo"), without=there)


def _examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*.py"))


def _fill_examples(tree: Tree) -> None:
    distributions.add(tree, _packages_of_examples())
    tree.add_sources(EXAMPLES, ROOT / "examples", _examples())


WORKER = Image(
    name=image_names.WORKER,
    title="PyTorch and Concertina's elastic runtime: coordinators and workers run in it.",
    fill=_fill,
    inputs=lambda: inputs.digest(_sources(), _packages(), root=ROOT),
    user=f"{system.USER}:{system.USER}",
    command=("python",),
)
DEMO = Image(
    name=image_names.DEMO,
    title="The worker image with scikit-learn and the examples.",
    fill=_fill_examples,
    inputs=lambda: inputs.digest(_examples(), _packages_of_examples(), root=ROOT) + WORKER.inputs(),
    user=WORKER.user,
    command=("python",),
    on=WORKER,
)
