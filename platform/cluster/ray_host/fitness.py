"""Can jobs run on this node? What keeps them from it, and what is wrong there besides."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from cluster import gpu_listing
from cluster.ray_host import shared_state

_SHARED_TYPES: Final = frozenset(  # file systems that other machines have, too
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gpfs", "lustre"}
    | {"nfs", "nfs4", "smb3"}
)
_ASK_PYTHON_SECONDS: Final = 60.0  # a shared file system may have to fetch it first
_NEEDED: Final = {
    "torch": "PyTorch",
    "concertina_worker": "the worker runtime (make worker-wheel builds it)",
}
_LEAVE_AN_ORPHAN: Final = ("sh", "-c", "sleep 0.1 > /dev/null 2>&1 & echo $!")
_REAP_SECONDS: Final = 10.0  # it takes milliseconds, unless the machine is very busy
_LOOK_SECONDS: Final = 0.01
_MOST_SECONDS_APART: Final = 2.0  # more, and times of events and logs tell a wrong order

_PROBE: Final = (
    "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n) is None))"
)


def why_unfit(*, folder: Path, state_dir: Path, word: str, python: str) -> str:
    """Say the first thing that keeps jobs from running here, and what to do; empty: nothing."""
    reasons = (
        why_no_records(folder),
        shared_state.why_not(state_dir, word),
        why_no_python(python),
    )
    return next(filter(None, reasons), "")


def why_no_records(folder: Path, *, mounts: Callable[[], str] | None = None) -> str:
    """Say why records of processes cannot be kept in a folder, which is made if need be."""
    rule = f"CONCERTINA_RAY_NODE_DIR has to be on each node's own disk; {folder}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if (owner := folder.stat().st_uid) != os.geteuid():
            return f"{rule} belongs to user {owner}, and agents are user {os.geteuid()}"
        with tempfile.TemporaryFile(dir=folder) as trial:  # follows no link that others left there
            trial.write(b"x")
    except OSError as problem:
        return f"{rule} cannot be written to: {problem}"
    kind = _type_of_file_system(folder, mounts or _mounts)
    return f"{rule} is on {kind}, which other nodes may share" if kind in _SHARED_TYPES else ""


def why_no_python(python: str) -> str:
    """Say why workers cannot be started with this interpreter."""
    rule = f"CONCERTINA_RAY_WORKER_PYTHON={python!r}"
    try:
        ran = subprocess.run(  # noqa: S603 - an admin's own
            (python, "-c", _PROBE, *_NEEDED),
            capture_output=True,
            text=True,
            check=False,
            timeout=_ASK_PYTHON_SECONDS,
            env={"PATH": os.environ.get("PATH", "")},
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{rule} cannot be started here: {problem}. Install it there, or correct the path"
    if ran.returncode:
        return f"{rule} does not work here: {' '.join(ran.stderr.split())[-200:]}"
    missing = [_NEEDED[name] for name in ran.stdout.split()]
    return f"{rule} has not {' and not '.join(missing)} here. Install it there" if missing else ""


def why_gpus_differ(*, wanted: int, in_ray: int, listing: str, given: str | None) -> str:
    """Say how many GPUs the pool, Ray and NVIDIA's driver count, where they do not agree.

    Without a driver there is nothing to compare: then Ray's number is an admin's (--num-gpus).

    Args:
        wanted: by the pool.
        in_ray: what Ray has there.
        listing: what `nvidia-smi -L` prints; empty: there is no driver.
        given: CUDA_VISIBLE_DEVICES, as Ray set it for us; None: it hides none.
    """
    if not listing:
        return ""
    there = gpu_listing.parse(listing)
    seen = len(gpu_listing.visible(there, given))
    if seen == wanted:
        return ""
    hidden = "all of them" if given is None else f"CUDA_VISIBLE_DEVICES={given}"
    return (
        f"it is to have {wanted} GPUs; Ray says {in_ray} there and gave us {hidden}; NVIDIA's"
        f" driver lists {len(there)}, and {seen} of those that we were given. Start Ray there with"
        " the driver's number (--num-gpus), or correct the node's GPUs or the pool's GPUs per node"
    )


def is_reaped(*, seconds: float = _REAP_SECONDS) -> bool:
    """True if a process whose parent ended is collected when it ends, soon after."""
    printed = subprocess.run(_LEAVE_AN_ORPHAN, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own words
    orphan = Path("/proc", printed.strip())
    give_up_at = time.monotonic() + seconds
    while orphan.exists() and time.monotonic() < give_up_at:
        time.sleep(_LOOK_SECONDS)
    return not orphan.exists()


def complaints(
    *, service_time: float, are_orphans_collected: Callable[[], bool] = is_reaped
) -> Iterator[str]:
    """What admins should see to, though jobs run; the service asked at this time of its clock."""
    apart = time.time() - service_time
    if abs(apart) > _MOST_SECONDS_APART:
        word = "ahead of" if apart > 0 else "behind"
        yield (
            f"The clock is {abs(apart):.0f} s {word} the service's, so that times of events and"
            " logs are in a wrong order. Let a time service (NTP) set both."
        )
    if not are_orphans_collected():
        yield (
            "The first process here does not collect those that end, so that each start leaves one"
            " behind. Let an init such as tini be the first: `docker run --init`, or tini in the"
            " pod's command."
        )


def _type_of_file_system(folder: Path, mounts: Callable[[], str]) -> str:
    """Return that of the mount that is nearest above, of several there the last."""
    kinds = {}
    for line in mounts().splitlines():
        _, place, kind, *_ = line.split(" ")
        kinds[Path(place.replace("\\040", " "))] = kind
    real = folder.resolve()
    return next((kinds[one] for one in (real, *real.parents) if one in kinds), "")


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text()
    except OSError:
        return ""
