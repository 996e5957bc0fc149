"""How does a checkout become as new? Standard library only, unless something runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.containers import mounts
from local_stack.terminal import say


def clean(checkout: Checkout, *, is_sure: bool, is_everything: bool) -> int:
    """Stop the service and remove databases, logs, checkpoints and sockets of this checkout."""
    folders = [
        folder for folder in _folders(checkout, is_everything=is_everything) if folder.exists()
    ]
    if not folders:
        say("Nothing to remove.")
        return 0
    say("This removes:")
    for folder in folders:
        say(f"  {folder}")
    if not (is_sure or _confirmed()):
        say("Nothing was removed.")
        return 1
    _stop(checkout)
    for folder in folders:
        mounts.unmount_below(folder)
        shutil.rmtree(folder)
    say("Removed.")
    return 0


def _folders(checkout: Checkout, *, is_everything: bool) -> list[Path]:
    root = checkout.root
    built = [root / ".venv", root / "frontend" / "node_modules", root / "frontend" / "dist"]
    return [checkout.state_dir, checkout.runtime_dir, *(built if is_everything else [])]


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        say("Add --yes to say that you mean it.")
        return False
    return input("Go on? [y/N] ").strip().lower() in {"y", "yes"}


def _stop(checkout: Checkout) -> None:
    if not (checkout.root / ".venv").exists():
        return  # nothing can run without it
    from local_stack.stack import background  # noqa: PLC0415 - needs what ./dev installed

    background.stop(checkout, say=say)
