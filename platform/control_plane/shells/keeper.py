"""How does `control` have a relay? It starts one, and another should that die."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from cluster.source_root import SOURCE_ROOT

_AGAIN_SECONDS: Final = 2.0  # guessed: between two starts of a relay that dies
_END_SECONDS: Final = 4.0  # for a relay to end its shells and to say so
_log: Final = logging.getLogger(__name__)


def keep_relay() -> Callable[..., None]:
    """Have a relay from now on, for as long as this process lives.

    What is returned ends it in order; without that it ends with this process.
    """
    reader, ours = os.pipe()  # closes with this process, and the relay ends
    is_over = threading.Event()
    keeping = threading.Thread(
        target=_keep, args=(reader, is_over), name="shell-relay", daemon=True
    )
    keeping.start()

    def end(**_: Any) -> None:
        is_over.set()
        os.close(ours)
        keeping.join(_END_SECONDS)

    return end


def _keep(reader: int, is_over: threading.Event) -> None:
    path = os.pathsep.join([str(SOURCE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    while not is_over.is_set():
        try:
            with subprocess.Popen(
                (sys.executable, "-m", "control_plane.shells.relay"),
                stdin=reader,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            ) as process:
                code = process.wait()
        except OSError as problem:
            _log.warning("No relay of shells can be had: %s", problem, extra={"action": "shell"})
        else:
            if not is_over.is_set():
                _log.warning("The relay of shells ended (%s).", code, extra={"action": "shell"})
        is_over.wait(_AGAIN_SECONDS)
