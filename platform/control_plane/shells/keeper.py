"""How does `control` have a relay? It starts one, and another should that die."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from typing import Final

from cluster.source_root import SOURCE_ROOT

_AGAIN_SECONDS: Final = 2.0  # guessed: between two starts of a relay that dies
_log: Final = logging.getLogger(__name__)


def keep_relay() -> None:
    """Have a relay from now on, for as long as this process lives."""
    threading.Thread(target=_keep, name="shell-relay", daemon=True).start()


def _keep() -> None:
    reader, _ours = os.pipe()  # closes with this process, and the relay ends
    path = os.pathsep.join([str(SOURCE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    while True:
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
            _log.warning("The relay of shells ended (%s).", code, extra={"action": "shell"})
        time.sleep(_AGAIN_SECONDS)
