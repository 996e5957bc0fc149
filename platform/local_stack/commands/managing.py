"""How does a person run one of the service's own commands where `./dev` runs it?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from control_plane import database_roles

from local_stack import secrets_file, stack_record
from local_stack.checkout import Checkout
from local_stack.commands.status import NOT_UP
from local_stack.stack.service import StackService
from local_stack.terminal import say


def run(checkout: Checkout, arguments: Sequence[str]) -> int:
    """Run `manage.py` with the environment of the service that is up; its exit code is ours."""
    record = stack_record.current(checkout)
    if record is None:
        say("The service is not up, nor its database. Start it with ./dev up")
        return NOT_UP
    service = StackService(
        checkout=checkout,
        secrets=secrets_file.load_or_create(checkout),
        port=int(record.url.rpartition(":")[2]),
        tick_seconds=5.0,  # no command looks at it
    )
    ran = subprocess.run(
        (sys.executable, "manage.py", *arguments),
        cwd=checkout.root,
        env={**os.environ, **service.environment(database_roles.OWNER)},
        check=False,
    )
    return ran.returncode
