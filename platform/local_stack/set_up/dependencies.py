"""What must be installed, and is it? The lock file, PyTorch, and this project itself."""

from __future__ import annotations

import sys

from local_stack import gpus
from local_stack.checkout import Checkout
from local_stack.set_up import installer as installers
from local_stack.set_up.installer import Installer
from local_stack.set_up.long_step import StepFailed, skipped
from local_stack.set_up.stamp import Stamp, digest_of
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import coloured, say

TORCH = "torch==2.13.0"
LOCK = "requirements.lock"


def install(checkout: Checkout, venv: VirtualEnvironment) -> None:
    """Bring the virtual environment up to date with the lock file.

    Raises:
        StepFailed: something could not be installed.
    """
    inputs = (checkout.root / LOCK, checkout.root / "pyproject.toml")
    words = (TORCH, sys.version, str(checkout.root))
    stamp = Stamp(file=venv.stamp_file, digest=digest_of(inputs, *words))
    if venv.is_ready and stamp.is_valid:
        skipped("Dependencies")
        return
    checkout.logs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    venv.create(log=checkout.logs_dir / "install.log")
    installer = installers.find(venv, logs=checkout.logs_dir)
    installer.install("Dependencies", "--requirement", LOCK)
    _install_torch(installer)
    installer.install("Concertina itself", "--no-deps", "--editable", ".")
    stamp.set()


def _install_torch(installer: Installer) -> None:
    """Prefer wheels that lie on this machine, then the small CPU build, then the CUDA build."""
    try:
        installer.install("PyTorch, from this machine's wheels", "--no-index", TORCH)
    except StepFailed:
        say("    none here")
    else:
        return
    if installer.is_uv and not gpus.names():
        try:
            installer.install("PyTorch for the CPU", "--torch-backend", "cpu", TORCH)
        except StepFailed:
            say("    the CPU builds cannot be reached")
        else:
            return
    say(coloured("    PyTorch with CUDA follows: several GB to download.", "yellow"))
    installer.install("PyTorch", TORCH)
