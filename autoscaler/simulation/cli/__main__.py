"""`concertina-simulate`, also as `python -m autoscaler.simulation.cli`."""

from __future__ import annotations

import sys
from typing import Final

INTERRUPTED: Final = 130  # as in `command`, which has perhaps not been loaded


def main() -> None:
    """Ctrl-C ends it without a traceback also while it loads."""
    try:
        from autoscaler.simulation.cli.command import app  # noqa: PLC0415 - it takes a second

        app(prog_name="concertina-simulate")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
