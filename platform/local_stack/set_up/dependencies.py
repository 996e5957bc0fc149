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
RAY_LOCK = "requirements-ray.lock"

# The step's name, then the installer's arguments.
FROM_HERE = ("PyTorch, from this machine's wheels", "--no-index", "--no-deps", TORCH)
FOR_THE_CPU = ("PyTorch for the CPU", "--torch-backend", "cpu", TORCH)
FOR_THE_DRIVER = (
    "PyTorch with the driver's CUDA",
    *("--torch-backend", "auto", "--reinstall-package", "torch", TORCH),
)
FROM_ANYWHERE = ("PyTorch", TORCH)


def install(checkout: Checkout, venv: VirtualEnvironment) -> None:
    """Bring the virtual environment up to date with the lock file.

    Raises:
        StepFailed: something could not be installed.
    """
    inputs = (checkout.root / LOCK, checkout.root / "pyproject.toml")
    has_gpus = is_for_gpus(venv)
    words = (TORCH, f"{has_gpus=}", sys.version, str(checkout.root))
    stamp = Stamp(file=venv.stamp_file, digest=digest_of(inputs, *words))
    if venv.is_ready and stamp.is_valid:
        skipped("Dependencies")
        return
    checkout.logs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    venv.create(log=checkout.logs_dir / "install.log")
    installer = installers.find(venv, logs=checkout.logs_dir)
    # First, because what the examples use needs some PyTorch and would bring the largest.
    install_torch(installer, venv, has_gpus=has_gpus)
    installer.install("Dependencies", "--requirement", LOCK)
    if has_gpus and is_for_cpu(venv):
        say(coloured("    No PyTorch with CUDA can be reached: jobs compute on the CPU.", "yellow"))
    installer.install("Concertina itself", "--no-deps", "--editable", ".")
    stamp.set()


def install_ray(checkout: Checkout, venv: VirtualEnvironment) -> None:
    """Bring in Ray, for who needs it: 75 MB to download. Where it cannot be had, say so."""
    stamp = Stamp(
        file=venv.folder / "concertina-ray",
        digest=digest_of([checkout.root / RAY_LOCK], sys.version),
    )
    if stamp.is_valid:
        skipped("Ray")
        return
    checkout.logs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        installer = installers.find(venv, logs=checkout.logs_dir)
        installer.install("Ray", "--requirement", RAY_LOCK)
    except StepFailed:
        say(
            coloured("    Ray is not to be had: tests of a real Ray cluster are skipped.", "yellow")
        )
        return
    stamp.set()


def is_for_gpus(venv: VirtualEnvironment) -> bool:
    """True if the machine has GPUs. Hidden ones count, because they may be shown again.

    While its driver does not answer, the environment stays what it is.
    """
    try:
        return bool(gpus.find({}))
    except gpus.DriverDoesNotAnswer:
        return has_cuda(venv)


def ways_to_torch(*, has_gpus: bool, is_uv: bool) -> tuple[tuple[str, ...], ...]:
    """Return what to try in turn; nobody knows what this machine's own wheels are built for."""
    if has_gpus:
        return (FOR_THE_DRIVER, FROM_ANYWHERE) if is_uv else (FROM_ANYWHERE,)
    return (FROM_HERE, FOR_THE_CPU, FROM_ANYWHERE) if is_uv else (FROM_HERE, FROM_ANYWHERE)


def install_torch(installer: Installer, venv: VirtualEnvironment, *, has_gpus: bool) -> None:
    """Install the build of PyTorch that the machine needs, unless it is there: it is large.

    Raises:
        StepFailed: none can be had.
    """
    if has_gpus and has_cuda(venv):
        return
    *ways, last = ways_to_torch(has_gpus=has_gpus, is_uv=installer.is_uv)
    for way in ways:
        try:
            _warn_of_size(way)
            installer.install(*way)
        except StepFailed:
            say("    none here")
        else:
            return
    _warn_of_size(last)
    installer.install(*last)


def _warn_of_size(way: tuple[str, ...]) -> None:
    if way in (FOR_THE_DRIVER, FROM_ANYWHERE):
        say(coloured("    PyTorch with CUDA follows: several GB to download.", "yellow"))


def is_for_cpu(venv: VirtualEnvironment) -> bool:
    """True if the PyTorch installed there was built without CUDA."""
    return any(version.endswith("+cpu") for version in _versions_of_torch(venv))


def has_cuda(venv: VirtualEnvironment) -> bool:
    """True if the PyTorch installed there is the one that we want, and was built with CUDA."""
    wanted = TORCH.partition("==")[2]
    found = [version.partition("+") for version in _versions_of_torch(venv)]
    return any(version == wanted and build != "cpu" for version, _, build in found)


def _versions_of_torch(venv: VirtualEnvironment) -> list[str]:
    found = (venv.folder / "lib").glob("python3*/site-packages/torch-*.dist-info")
    return [path.name.removeprefix("torch-").removesuffix(".dist-info") for path in found]
