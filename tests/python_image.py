"""An image with Python, the worker runtime and the tests' scripts; made in seconds, no PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from local_stack.images import image, interpreter, system
from local_stack.images.image import Image
from local_stack.images.inputs import digest
from local_stack.images.tree import Tree

ROOT: Final = Path(__file__).parents[1]
SCRIPTS: Final = "/scripts"


def python_image(url: str) -> str:
    """Have it ready at this Docker endpoint; return its tag."""
    return image.ensure(PYTHON, url)


def _sources() -> list[Path]:
    runtime = (ROOT / "worker_image" / "concertina_worker").glob("*.py")
    return sorted((*runtime, *(ROOT / "tests" / "contract" / "scripts").glob("*.py")))


def _fill(tree: Tree) -> None:
    system.add(tree)
    interpreter.add(tree)
    for file in _sources():
        of_runtime = file.parent.name == "concertina_worker"
        folder = f"{interpreter.PACKAGES}/concertina_worker" if of_runtime else SCRIPTS.lstrip("/")
        tree.add_file(f"{folder}/{file.name}", file)


PYTHON: Final = Image(
    name="concertina-tests/python",
    title="Python and the worker runtime, for tests.",
    fill=_fill,
    inputs=lambda: digest(_sources(), (), root=ROOT),
    user=f"{system.USER}:{system.USER}",
)
