"""How is a stack made of which nothing is left at the end?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.chaos.containers import environment
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.disk_and_network import disk as disks
from local_stack.chaos.disk_and_network import earlier_runs
from local_stack.chaos.disk_and_network.namespaces import OwnNamespaces
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.stack import background
from local_stack.stack.stack import Options

SLOTS = 4  # on two machines, 2 each


@contextmanager
def private_stack(
    *,
    tick_seconds: float,
    own_namespaces: OwnNamespaces,
    machines: Machines | None = None,
    say: Callable[[str], None],
) -> Iterator[TargetStack]:
    """Started here, in a folder of its own below the one for temporary files."""
    host = "docker" if machines is not None else "process"
    options = Options(slots=SLOTS, tick_seconds=tick_seconds, host=host)
    _forget_other_services()
    if machines is not None:
        os.environ.update(environment.of_service(machines))
    with ExitStack() as at_the_end:
        home = at_the_end.enter_context(earlier_runs.folder(say=say))
        shared_dir = home / "jobs"
        shared_dir.mkdir()
        shared_dir.chmod(0o777)
        disk = None
        if own_namespaces.has_mounts:
            disk = at_the_end.enter_context(disks.mounted(home / "disk", home / "home"))
        checkout = checkouts.find(home=home / "home")
        at_the_end.callback(background.stop, checkout, say=say)
        record = background.start(checkout, options, ends_with_us=True, say=say)
        stack = TargetStack(
            checkout=checkout,
            options=options,
            url=record.url,
            tokens=dict(secrets_file.load_or_create(checkout).tokens),
            shared_dir=shared_dir,
            disk=disk,
            has_network=own_namespaces.has_network,
            machines=machines,
        )
        if machines is not None:
            environment.register(machines, stack.service())
        yield stack


def _forget_other_services() -> None:
    """Neither servers nor settings of another service are for this one."""
    for name in [*os.environ]:
        if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
            del os.environ[name]
