"""Which images are there? By the name that `python -m tools.images` knows them by."""

from __future__ import annotations

from tools.images import image
from tools.images.engine import Url
from tools.images.image import Image
from tools.images.recipes.service import SERVICE
from tools.images.recipes.stand_ins import POSTGRES, PYTHON, REDIS
from tools.images.recipes.worker import DEMO, WORKER

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
