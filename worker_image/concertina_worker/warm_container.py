"""How does a container start in an instant? It started before, and has imported all; it is told.

`python -m concertina_worker.warm_container <order> <mark> [module …] <room>` imports the modules,
puts down the mark, and waits until the order is there, a file that is written whole. Then it is the
program that the order names, in this process: what follows looks to it like `python script.py` in
a container of its own. It has seen nothing of any job before. (`room`: see `process_title`.)
Standard library only.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from concertina_worker.process.warm_child import Order

_POLL_SECONDS: Final = 0.02  # trades a thousandth of a core for a tenth of what a start takes
_NO_WORKDIR: Final = 127  # the shell's exit code for what is not there


def await_order(path: Path) -> Order:
    """Blocks, if need be for days."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            return _order(json.loads(path.read_bytes()))
        time.sleep(_POLL_SECONDS)


def _order(document: dict[str, Any]) -> Order:
    """The environment is the container's own, which its image began, and what a launch adds."""
    env = {str(name): str(value) for name, value in document["env"].items()}
    workdir = str(document["workdir"])
    own = {**os.environ, "PWD": workdir} if "PWD" in os.environ else os.environ  # as a shell does
    return Order(
        arguments=[str(argument) for argument in document["arguments"]],
        env={**own, **env},
        workdir=workdir,
        outputs=[1, 2],
    )


def _refuse_missing(workdir: str) -> None:
    try:
        os.chdir(workdir)
    except OSError as problem:
        why = f"cannot enter the working directory {workdir!r}: {problem.strerror}"
        sys.stderr.write(f"concertina: {why}\n")
        sys.exit(_NO_WORKDIR)


def main(path: Path, mark: Path, modules: list[str]) -> None:
    """Wait warm; then be what the order says."""
    for module in modules:
        importlib.import_module(module)
    mark.touch()
    order = await_order(path)
    mark.unlink()
    _refuse_missing(order.workdir)
    order.obey()


if __name__ == "__main__":
    path, mark, *modules, _ = sys.argv[1:]
    main(Path(path), Path(mark), modules)
