"""Under which names does Docker know the images of this checkout?"""

from __future__ import annotations

import tomllib
from typing import Final

from local_stack.checkout import ROOT

VERSION: Final[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
WORKER: Final = "localhost/concertina-worker"  # coordinators, and workers whose job names no image
DEMO: Final = "localhost/concertina-demo"  # with the scripts of the demo


def tag(name: str) -> str:
    """Return the name of this version's image."""
    return f"{name}:{VERSION}"
