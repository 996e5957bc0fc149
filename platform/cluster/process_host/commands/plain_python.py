"""Which commands can start in a process that has imported all, and what does it have to begin with?

Such a process is the fork of a zygote. A variable reaches a new process at one of three moments:

- at an import: libraries read it once, when a process imports them. What is warm began with these,
  and serves only launches that have the same. Where libraries lie (`LD_LIBRARY_PATH`) is one.
- before that: it names code that the process shall load. What is warm runs nothing that a job
  brings along, so a launch with such a variable starts in the ordinary way.
- later: everything else, so all secrets. It is told when it becomes the process of a launch.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_READ_AT_IMPORT: Final = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "TZ", "TMPDIR", "TEMP", "TMP"}
)
_READ_AT_IMPORT_BEGINNING_WITH: Final = (  # by Python, the C library, numpy and torch
    *("LC_", "PYTHON", "MALLOC_", "GLIBC_"),
    *("OMP_", "GOMP_", "KMP_", "MKL", "OPENBLAS_", "GOTO_", "DNNL_", "ONEDNN_", "NPY_", "NUMPY_"),
    *("CUDA_", "NVIDIA_", "TORCH", "PYTORCH_", "AOT", "INDUCTOR_", "TRITON_", "KINETO_"),
)
_TOLD_LATER: Final = frozenset(  # although they begin so: differ by worker or job, read in training
    {
        *("CUDA_VISIBLE_DEVICES", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"),
        *("TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"),
    }
)
_PRIVATE: Final = frozenset({"HOME", "TMPDIR", "TEMP", "TMP"})
_HARMLESS: Final = frozenset(
    {
        *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONUNBUFFERED"),
        *("PYTHONHASHSEED", "CUDA_DEVICE_ORDER", "PYTORCH_CUDA_ALLOC_CONF"),
    }
)
_HARMLESS_VALUE: Final = re.compile(r"[A-Za-z0-9_.:,]{0,64}")
DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_NAMES_CODE: Final = frozenset(
    {"LD_PRELOAD", "LD_AUDIT", "OPENSSL_CONF", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPLATLIBDIR"}
)


def can_start_warm(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    """True if a fork of a zygote is the same as a new process."""
    return not _names_code(env) and _has_our_path(env) and is_plain(arguments, env)


def is_plain(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    """True if this is `python script.py …` or `python -m module …` with our own interpreter."""
    found = shutil.which(arguments[0], path=env.get("PATH", ""))
    own = Path(sys.executable)
    if found is None or Path(found).parent != own.parent or not own.samefile(found):
        return False
    return _names_script_or_module(arguments[1:])


def _names_script_or_module(arguments: Sequence[str]) -> bool:
    """True if Python, given these, runs a script or a module, and does nothing else."""
    match arguments:
        case ["-m", module, *_]:
            return not module.startswith("-")
        case [script, *_]:
            return script.endswith(".py") and not script.startswith("-")
    return False


def _names_code(env: Mapping[str, str]) -> bool:
    """True if the loader or Python would load something because of this, without being asked."""
    return bool(_NAMES_CODE & env.keys())


def read_at_import(env: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that a zygote begins with."""
    return {
        name: value
        for name, value in env.items()
        if name in _READ_AT_IMPORT
        or (name.startswith(_READ_AT_IMPORT_BEGINNING_WITH) and name not in _TOLD_LATER)
    }


def read_at_import_by_all(env: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str] | None:
    """Return what a zygote begins with that runs as the service and serves other users.

    None: the job chose something that libraries obey at their import, which would then be the
    service's own doing. Where it is at home such a process is told later.
    """
    read = {name: value for name, value in read_at_import(env).items() if name not in _PRIVATE}
    if all(_is_harmless(name, value, own) for name, value in read.items()):
        return {**read, **{name: own[name] for name in _PRIVATE & own.keys()}}
    return None


def _is_harmless(name: str, value: str, own: Mapping[str, str]) -> bool:
    if name == "PATH":
        return value.removeprefix(f"{Path(sys.executable).parent}:") == DEFAULT_PATH
    if name == "PYTHONPATH":
        return True  # see `_has_our_path`
    is_number = name in _HARMLESS and _HARMLESS_VALUE.fullmatch(value) is not None
    return is_number or own.get(name) == value


def _has_our_path(env: Mapping[str, str]) -> bool:
    """True if Python would look for modules only where this process does, too."""
    path = env.get("PYTHONPATH", "")
    return not path or {*path.split(os.pathsep)} <= {*sys.path} - {""}
