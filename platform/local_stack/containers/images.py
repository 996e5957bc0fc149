"""Does Docker have the images that jobs need? If not, they are made of these sources."""

from __future__ import annotations

import os
import sys

from local_stack.checkout import Checkout
from local_stack.containers.image_names import DEMO, WORKER, tag
from local_stack.set_up.long_step import run_step

GIVEN = "CONCERTINA_WORKER_IMAGE"  # an image of one's own


def worker_image(checkout: Checkout, docker_url: str) -> str:
    """The name of the image in which coordinators run, and workers whose job names none.

    Raises:
        StepFailed: it cannot be made.
    """
    if given := os.environ.get(GIVEN):
        return given
    _make(checkout, docker_url, "Worker image", "worker")
    return tag(WORKER)


def demo_image(checkout: Checkout, docker_url: str) -> str:
    """The name of the image with the demo's scripts.

    Raises:
        StepFailed: it cannot be made.
    """
    _make(checkout, docker_url, "Image with the examples", "demo")
    return tag(DEMO)


def _make(checkout: Checkout, docker_url: str, title: str, name: str) -> None:
    run_step(
        title,
        (sys.executable, "-m", "tools.images", name, "--host", docker_url),
        log=checkout.logs_dir / f"image-{name}.log",
        folder=checkout.root,
    )
