"""May this run have mounts and a network of its own? Both go with its last process.

Only root may. Whatever is mounted in there and whatever packets are dropped, nobody else on the
machine sees it, and nothing is left of it, however the run ends.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

CLONE_NEWNS: Final = 0x00020000  # linux/sched.h
CLONE_NEWNET: Final = 0x40000000
MOUNTING: Final = ("mount", "umount", "mkfs.ext4")
CUTTING: Final = ("ip", "iptables")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNamespaces:
    """What this run has for itself."""

    has_mounts: bool = False
    has_network: bool = False


def enter(*, say: Callable[[str], None]) -> OwnNamespaces:
    """Move this thread, and all processes that it starts from now on, into namespaces of its own.

    Call it from the main thread, before anything was started. What is not to be had is said.
    """
    has_mounts = _said(_why_no_mounts(), "full and slow disks", say)
    has_network = _said(_why_no_network(), "cut networks", say)
    return OwnNamespaces(has_mounts=has_mounts, has_network=has_network)


def _said(why_not: str, what: str, say: Callable[[str], None]) -> bool:
    if why_not:
        say(f"  ! Not tried in this run: {what}, since {why_not}.")
    return not why_not


def _why_no_mounts() -> str:
    if why := _missing(MOUNTING) or _refused(CLONE_NEWNS):
        return why
    return _failed("mount", "--make-rprivate", "/")


def _why_no_network() -> str:
    if why := _missing(CUTTING) or _refused(CLONE_NEWNET):
        return why
    return _failed("ip", "link", "set", "lo", "up") or _failed("iptables", "-S")


def _missing(programs: Iterable[str]) -> str:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "that takes root, on Linux"
    lacking = [program for program in programs if shutil.which(program) is None]
    return f"this machine has no {' and no '.join(lacking)}" if lacking else ""


def _refused(flag: int) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flag) == 0:
        return ""
    return f"the kernel refuses a namespace: {os.strerror(ctypes.get_errno())}"


def _failed(*command: str) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if ran.returncode == 0 else f"`{' '.join(command)}` says: {ran.stderr.strip()}"
