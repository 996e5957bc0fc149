"""Where does a script find its data, on the platform and alone? Standard library only."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from concertina_worker.protocol import Env, data_variable

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")


def data(source: str) -> Path:
    """Return the path of a source of data that the job's spec names.

    Alone, the variable CONCERTINA_DATA_IMAGENET says where `imagenet` is, or the file of JSON that
    CONCERTINA_DATASETS names: {"imagenet": "/home/ada/imagenet"}.

    Raises:
        LookupError: nothing says where it is; the message says what to set.
        FileNotFoundError: it is not there.
    """
    if not _NAME.fullmatch(source):
        raise LookupError(f"{source!r} is not a name of data. Use lower-case letters and hyphens.")
    variable = data_variable(source)
    said = os.environ.get(variable)
    by = variable
    if not said:
        said, by = _mapped(source), str(os.environ.get(Env.DATASETS))
    if not said:
        raise LookupError(_unknown(source, variable))
    path = Path(said).expanduser().absolute()
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}, where {by} says that {source} is.")
    return path


def _mapped(source: str) -> str | None:
    """Look into the mapping file; a path in it is seen from where the file lies."""
    named = os.environ.get(Env.DATASETS)
    if not named:
        return None
    file = Path(named).expanduser().absolute()
    try:
        mapping: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise LookupError(f"{Env.DATASETS}={named} cannot be read: {problem}") from problem
    said = mapping.get(source) if isinstance(mapping, dict) else None
    return str(file.parent / Path(str(said)).expanduser()) if said else None


def _unknown(source: str, variable: str) -> str:
    if os.environ.get(Env.JOB_ID):
        return f"The job's spec does not name {source}. Add to it: data: [{{source: {source}}}]."
    return (
        f"Nothing says where {source} is. Set {variable} to its folder, or {Env.DATASETS} to a file"
        f' of JSON such as {{"{source}": "/home/ada/{source}"}}.'
    )
