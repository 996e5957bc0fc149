"""Who starts commands beside workers? This program, beside `control` while shells are on.

It takes orders from Valkey, and ends with its standard input, that is with whoever started it. Its
shells end with it: the attendants notice. So no tick waits for a shell, and no thread of a tick's
process works for one.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import Final

import django
import redis
from django.conf import settings

from control_plane.shells import mailbox
from control_plane.shells.orders import MOST_OF_ALL, TAKEN_SECONDS, ShellEnd, ShellOrder, ending

_WAIT_SECONDS: Final = 5
_AGAIN_SECONDS: Final = 1.0
_NICENESS: Final = 5  # ticks go first
_log: Final = logging.getLogger(__name__)


def main() -> None:
    """Take orders until there is nobody any more who wants them taken."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")
    django.setup(set_prefix=False)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_input, daemon=True).start()
    configured = settings.CONCERTINA
    host = configured.worker_host.host(configured)
    client = redis.Redis.from_url(configured.redis_url, socket_timeout=_WAIT_SECONDS * 2)
    while True:
        try:
            found = client.blpop([mailbox.ORDERS], timeout=_WAIT_SECONDS)
            if found is not None:
                _take(ShellOrder.read(found[1]), host, client)
        except (redis.RedisError, OSError, ValueError, KeyError, TypeError) as problem:
            extra = {"action": "shell"}
            _log.warning("An order for a shell cannot be taken: %s", problem, extra=extra)
            time.sleep(_AGAIN_SECONDS)


def _take(order: ShellOrder, host: object, client: redis.Redis) -> None:
    """Begin a shell, unless nobody waits for it any more."""
    from control_plane.shells.ended import note_end  # noqa: PLC0415 - it loads models
    from control_plane.shells.leaving import why_gone  # noqa: PLC0415 - so does it
    from control_plane.shells.session import ShellSession  # noqa: PLC0415 - so does it

    if time.time() - order.asked_at > TAKEN_SECONDS:
        return
    entrance = getattr(host, "entrance", None)  # a host of the former release has none
    running = sum(one.name.startswith("shell ") for one in threading.enumerate())
    if entrance is None or running >= MOST_OF_ALL:
        said = "Nothing can be started beside a worker here, or too much was already."
        client.rpush(mailbox.outputs(order.id), ending(ShellEnd.CANNOT_START, said))
        client.expire(mailbox.outputs(order.id), mailbox.LIST_SECONDS)
        return
    session = ShellSession(
        order=order,
        entrance=entrance,
        client=client,
        bounds=settings.CONCERTINA.shells,
        note_end=note_end,
        why_gone=why_gone,
    )
    threading.Thread(target=session.run, name=f"shell {order.id}", daemon=True).start()


def _end_with_input() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
