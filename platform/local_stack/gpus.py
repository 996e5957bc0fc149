"""Which GPUs does this machine have, and how do jobs share them? Without any, slots stand for them.

Asked through `nvidia-smi -L`, the command line of NVIDIA's management library (NVML): it comes
with every driver, counts GPUs as the library does, and needs nothing installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cluster.gpu_listing import Gpu, parse

DEFAULT_SLOTS = 4
SIMULATED_SLOTS = 64
SIMULATED_NODE = 8  # slots of each simulated machine
PATIENCE_SECONDS = 120  # a driver that has to wake its GPUs first takes some for each


class DriverDoesNotAnswer(Exception):
    """NVIDIA's driver is installed but does not say which GPUs there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """What this machine's pool consists of."""

    kind: str = "slot"
    slots: int = DEFAULT_SLOTS  # how many workers can train side by side
    uuids: tuple[str, ...] = ()  # of each slot's GPU; empty without GPUs
    nodes: int = 1  # among which they are shared out


def find(environ: Mapping[str, str] = os.environ) -> tuple[Gpu, ...]:
    """The GPUs that jobs of this machine may use; `CUDA_VISIBLE_DEVICES` hides the others.

    Raises:
        DriverDoesNotAnswer: nobody can tell; that is not the same as none.
    """
    program, names = shutil.which("nvidia-smi"), environ.get("CUDA_VISIBLE_DEVICES")
    if program is None or names == "":
        return ()
    return visible(parse(_listing(program)), names)


def _listing(program: str) -> str:
    try:
        ran = subprocess.run(
            (program, "-L"), capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise DriverDoesNotAnswer(f"NVIDIA's driver does not answer: {problem}") from problem
    if ran.returncode:
        said = " ".join((ran.stdout + ran.stderr).split()) or f"exit {ran.returncode}"
        raise DriverDoesNotAnswer(f"NVIDIA's driver does not answer: {said}")
    return ran.stdout


def visible(gpus: Sequence[Gpu], names: str | None) -> tuple[Gpu, ...]:
    """The GPUs whose number or UUID (or its beginning) is among the names; all for None."""
    if names is None:
        return tuple(gpus)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return tuple(gpu for gpu in gpus if any(_is_called(gpu, name) for name in wanted))


def supply(gpus: Sequence[Gpu], slots: int | None = None) -> Supply:
    """A slot for each GPU of the commonest kind; if more are asked for, they share the GPUs."""
    if not gpus:
        return Supply(slots=slots or DEFAULT_SLOTS)
    (kind, _), *_ = Counter(gpu.kind for gpu in gpus).most_common(1)
    uuids = [gpu.uuid for gpu in gpus if gpu.kind == kind]
    count = slots or len(uuids)
    shared = tuple(uuids[slot % len(uuids)] for slot in range(count))
    return Supply(kind=kind, slots=count, uuids=shared)


def simulated(slots: int | None = None) -> Supply:
    """Machines that are only simulated, as many as hold so many slots."""
    nodes = -(-(slots or SIMULATED_SLOTS) // SIMULATED_NODE)
    return Supply(slots=nodes * SIMULATED_NODE, nodes=nodes)


def shared_out(supply: Supply, *, nodes: int) -> Supply:
    """The same on several nodes, with as many slots each; GPUs, which have names, stay on one."""
    if supply.uuids or supply.slots < nodes:
        return supply
    each = -(-supply.slots // nodes)
    return replace(supply, slots=each * nodes, nodes=nodes)


def slots_of_a_demo(gpus: Sequence[Gpu]) -> int:
    """Enough to see jobs grow and shrink: on few GPUs, several slots share each."""
    count = supply(gpus).slots
    return count * -(-DEFAULT_SLOTS // count)


def _is_called(gpu: Gpu, name: str) -> bool:
    return int(name) == gpu.index if name.isdecimal() else gpu.uuid.startswith(name)
