"""`python -m tools.images worker …` makes images without a registry; see `catalogue.py`."""

from __future__ import annotations

import argparse
import time

from local_stack.terminal import duration, say

from tools.images import image
from tools.images.catalogue import IMAGES


def main() -> None:
    """Make the images that are named, unless Docker has them of the same inputs."""
    parser = argparse.ArgumentParser(prog="python -m tools.images", description=__doc__)
    parser.add_argument("names", nargs="+", choices=sorted(IMAGES), metavar="IMAGE")
    parser.add_argument("--host", metavar="URL", help="Docker's endpoint; default: as `docker`'s")
    options = parser.parse_args()
    for name in options.names:
        began = time.monotonic()
        tag = image.ensure(IMAGES[name], options.host)
        say(f"{tag} ({duration(time.monotonic() - began)})")


if __name__ == "__main__":
    main()
