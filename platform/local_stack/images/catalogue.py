"""Which images are there? By the name that `python -m local_stack.images` knows them by."""

from __future__ import annotations

from local_stack.images import image
from local_stack.images.engine import Url
from local_stack.images.image import Image
from local_stack.images.service import SERVICE
from local_stack.images.stand_ins import POSTGRES, PYTHON, REDIS
from local_stack.images.worker import DEMO, WORKER

__all__ = (
    "DEMO",
    "IMAGES",
    "POSTGRES",
    "PYTHON",
    "REDIS",
    "SERVICE",
    "WORKER",
    "demo_image",
    "worker_image",
)

IMAGES: dict[str, Image] = {
    "worker": WORKER,
    "demo": DEMO,
    "service": SERVICE,
    "python": PYTHON,
    "postgres": POSTGRES,
    "redis": REDIS,
}


def worker_image(url: Url = None) -> str:
    """Have the worker image ready at this Docker endpoint; return its tag."""
    return image.ensure(WORKER, url)


def demo_image(url: Url = None) -> str:
    """Have the image of the examples ready at this Docker endpoint; return its tag."""
    return image.ensure(DEMO, url)
