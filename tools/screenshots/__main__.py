"""`python -m tools.screenshots`: every page of the stack that is up, or the README's pictures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import httpx
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record

from tools.screenshots import camera, pages

_TALLEST_IN_README: Final = 1200  # pixels


def main() -> None:
    wishes = argparse.ArgumentParser(description=__doc__)
    wishes.add_argument("--into", type=Path, default=Path(".concertina/screenshots"))
    wishes.add_argument(
        "--readme", action="store_true", help="write docs/images anew; best while the demo runs"
    )
    asked = wishes.parse_args()
    checkout = checkouts.find()
    record = stack_record.current(checkout)
    if record is None:
        sys.exit("No stack is up. Start one in another terminal: ./dev demo")
    secrets = secrets_file.load_or_create(checkout)
    login = (secrets.admin_username, secrets.admin_password)
    with httpx.Client(base_url=record.url, timeout=60) as client:
        told = {"username": login[0], "password": login[1]}
        client.post("/api/v1/session", json=told).raise_for_status()
        shown = [*(pages.pictured_pages if asked.readme else pages.all_pages)(client)]
    films = (camera.PLAIN,) if asked.readme else camera.EVERY_FILM
    folder = Path("docs/images") if asked.readme else asked.into
    most = {"most": _TALLEST_IN_README} if asked.readme else {}
    for picture in camera.take(record.url, login, shown, films, folder, **most):
        sys.stdout.write(f"{picture}\n")


if __name__ == "__main__":
    main()
