"""An image with Python, the worker runtime and the tests' scripts; made in seconds, no PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.images import image
from tools.images.contents import interpreter, system
from tools.images.contents.tree import Tree
from tools.images.image import Image
from tools.images.inputs import digest

ROOT: Final = Path(__file__).parents[1]
RUNTIME: Final = ROOT / "worker_image"
SCRIPTS: Final = "/scripts"


def python_image(url: str) -> str:
    """Have it ready at this Docker endpoint; return its tag."""
    return image.ensure(PYTHON, url)


def _sources() -> list[Path]:
    scripts = (ROOT / "tests" / "contract" / "scripts").glob("*.py")
    return sorted((*(RUNTIME / "concertina_worker").rglob("*.py"), *scripts))


def _fill(tree: Tree) -> None:
    system.add(tree)
    interpreter.add(tree)
    for file in _sources():
        if file.is_relative_to(RUNTIME):
            tree.add_file(f"{interpreter.PACKAGES}/{file.relative_to(RUNTIME)}", file)
        else:
            tree.add_file(f"{SCRIPTS.lstrip('/')}/{file.name}", file)


PYTHON: Final = Image(
    name="concertina-tests/python",
    title="Python and the worker runtime, for tests.",
    fill=_fill,
    inputs=lambda: digest(_sources(), (), root=ROOT),
    user=f"{system.USER}:{system.USER}",
)
