"""How does a supervisor that a zygote has started run its command? In the warm child it was given.

The warm child is a fork of the zygote: torch is imported, and it waits to be told. Standard
library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
from dataclasses import dataclass
from pathlib import Path

from cluster.process_host.commands import command as ordinary
from cluster.process_host.commands.command import ProcessCommand
from cluster.process_host.users import confinement


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmChild:
    """A child that is there already, in a session of its own, and dies with this process."""

    pid: int
    channel: socket.socket
    connection: int  # descriptor; closing it tells whoever asked that we are up

    def become(self, command: ProcessCommand, *, stdout: int, stderr: int) -> None:
        """Have it run the command. Raises OSError when it is gone."""
        resource.prlimit(self.pid, resource.RLIMIT_CORE, (0, 0))
        if command.memory_bytes is not None:
            limits = (command.memory_bytes, command.memory_bytes)
            resource.prlimit(self.pid, resource.RLIMIT_DATA, limits)
        order = {
            "arguments": list(command.arguments[1:]),
            "env": dict(command.env),
            "workdir": command.workdir,
            "confinement": _confinement(command),
        }
        line = json.dumps(order).encode() + b"\n"
        sent = socket.send_fds(self.channel, [line], [stdout, stderr])
        if rest := line[sent:]:
            self.channel.sendall(rest)
        self.channel.close()


def _confinement(command: ProcessCommand) -> dict[str, object] | None:
    if command.user is None:
        return None
    given = {
        "user": command.user,
        "visible": list(command.visible),
        "hidden": list(command.hidden),
    }
    return {"program": confinement.__file__, "function": "confine", "given": given}


def spawn(child: WarmChild | None, command: ProcessCommand, *, stdout: int, stderr: int) -> int:
    """Start it as `command.spawn` does, in the warm child if there is one that can."""
    is_possible = Path(command.workdir).is_dir()  # if not, the ordinary way says it better
    if child is not None and is_possible:
        with contextlib.suppress(OSError):
            child.become(command, stdout=stdout, stderr=stderr)
            return child.pid
    return ordinary.spawn(command, stdout=stdout, stderr=stderr)


def inherited(pid: int, channel: int, connection: int) -> WarmChild:
    """Return what the zygote left for this process, as its last arguments tell."""
    os.set_inheritable(channel, False)
    os.set_inheritable(connection, False)
    return WarmChild(pid=pid, channel=socket.socket(fileno=channel), connection=connection)
