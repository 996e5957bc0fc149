#!/usr/bin/env python3
"""Run Django's commands with the project's source roots on the path."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / root) for root in ("platform", "worker_image", "client")]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - path first

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
