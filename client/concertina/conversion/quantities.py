"""Times and sizes as other systems write them, written as a job spec has them."""

from __future__ import annotations

import math
import re
from typing import Final

_SLURM_TIME: Final = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?")
_SLURM_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)([KMGT]?)B?", re.IGNORECASE)
_KUBERNETES_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(|[kMGTPE]|[KMGTPE]i)")
_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_MEBI: Final = 1024**2


def slurm_seconds(text: str) -> int | None:
    """Return a time limit in seconds: `90`, `1:30`, `12:00:00`, `2-0`, `2-12:00`; None: none.

    Minutes come first, hours if there are days before them or seconds behind.
    """
    found = _SLURM_TIME.fullmatch(text.strip())
    if found is None:
        return None
    days, first, second, third = (None if part is None else int(part) for part in found.groups())
    if days is not None or third is not None:
        return ((days or 0) * 24 + (first or 0)) * 3600 + (second or 0) * 60 + (third or 0)
    return (first or 0) * 60 + (second or 0)


def slurm_bytes(text: str) -> int | None:
    """Return a size in bytes, in MiB where no unit is given; None: it is none."""
    found = _SLURM_SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * 1024 ** _POWERS[found[2].upper() or "M"])


def kubernetes_bytes(text: str) -> int | None:
    """Return a size in bytes: `16Gi`, `500M`, `1e9` is none."""
    found = _KUBERNETES_SIZE.fullmatch(text.strip())
    if found is None:
        return None
    unit = found[2]
    base = 1024 if unit.endswith("i") else 1000
    return int(float(found[1]) * base ** _POWERS[unit.removesuffix("i").upper()])


def kubernetes_cpus(text: str) -> float | None:
    """Return a number of cores: `4`, `500m`; None: it is none."""
    number = text.strip().removesuffix("m")
    try:
        cpus = float(number) / (1000 if text.strip().endswith("m") else 1)
    except ValueError:
        return None
    return cpus if math.isfinite(cpus) and cpus > 0 else None


def cores(cpus: float) -> float:
    """Return a number of cores as a spec has it, of two decimals and at least one of them."""
    rounded = max(round(cpus, 2), 0.01)
    return int(rounded) if rounded == int(rounded) else rounded


def size(number_of_bytes: float) -> str:
    """Return a size as a spec has it, in whole MiB or GiB, a little less rather than more."""
    mebibytes = max(int(number_of_bytes // _MEBI), 1)
    return f"{mebibytes // 1024}GiB" if mebibytes % 1024 == 0 else f"{mebibytes}MiB"


def duration(seconds: int) -> str:
    """Return a duration as a spec has it, in the largest unit that is whole."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
