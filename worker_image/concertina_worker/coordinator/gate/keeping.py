"""How does a coordinator have its gate run? Beside itself, again whenever it ends, and not longer.

It is a process of its own: what it carries may be much, and must not delay what workers tell their
coordinator.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Final, NoReturn

from concertina_worker.protocol import Env

_AGAIN_SECONDS: Final = 1.0
_SECRETS: Final = (Env.TOKEN, Env.SERVICE_TOKEN)


async def keep(host: str) -> NoReturn:
    """Keep a gate running until cancelled."""
    command = (sys.executable, "-m", "concertina_worker.coordinator.gate")
    environ = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    while True:
        gate = await asyncio.create_subprocess_exec(*command, host, str(os.getpid()), env=environ)
        try:
            await gate.wait()
        finally:
            if gate.returncode is None:
                gate.kill()
                await gate.wait()
        await asyncio.sleep(_AGAIN_SECONDS)
