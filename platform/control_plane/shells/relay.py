"""Who starts commands beside workers? This program, beside `control` while shells are on.

It takes orders from Valkey, and ends with its standard input, that is with whoever started it. Its
shells end with it, in order if there is time: the attendants notice. So no tick waits for a shell,
and no thread of a tick's process works for one.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

import django
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from control_plane.shells import mailbox
from control_plane.shells.orders import MOST_OF_ALL, ShellEnd, ShellOrder, ending

if TYPE_CHECKING:
    from control_plane.shells.session import ShellSession

_WAIT_SECONDS: Final = 5
_AGAIN_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.05
_LAST_SECONDS: Final = 3.0  # for commands to end, which takes two where they ignore SIGHUP
_NICENESS: Final = 5  # ticks go first
_RESTARTED: Final = "The part of the service that reaches workers is being restarted."
_running: Final[dict[str, ShellSession]] = {}  # by the shell's id
_log: Final = logging.getLogger(__name__)


def main() -> None:
    """Take orders until there is nobody any more who wants them taken."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")
    django.setup(set_prefix=False)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_input, daemon=True).start()
    configured = settings.CONCERTINA
    host = configured.worker_host.host(configured)
    client = redis.Redis.from_url(
        configured.redis_url,
        socket_timeout=_WAIT_SECONDS * 2,
        retry=Retry(NoBackoff(), 0),  # what is pushed again after a broken connection comes twice
    )
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

    if not client.exists(mailbox.held(order.id)):
        return
    entrance = getattr(host, "entrance", None)  # a host of the former release has none
    if entrance is None or len(_running) >= MOST_OF_ALL:
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
    _running[order.id] = session
    threading.Thread(target=_run, args=(session,), daemon=True).start()


def _run(session: ShellSession) -> None:
    try:
        session.run()
    finally:
        _running.pop(session.order.id, None)


def _end_with_input() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    for session in list(_running.values()):
        session.end(ShellEnd.RELAY_LOST, _RESTARTED)
    give_up_at = time.monotonic() + _LAST_SECONDS
    while _running and time.monotonic() < give_up_at:
        time.sleep(_LOOK_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main()
