"""May faults be inflicted on the stack that `./dev up` runs? Only if a person says so.

It must be one that this module knows how to look into: jobs as processes, and a database of its
own. Its supervisor is spared, for nobody would start it again as it was, and so are its disk and
its network, which are those of the machine.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from concertina import Client
from concertina.errors import ConcertinaError
from jobs.lifecycle import FINAL
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.checkout import Checkout
from local_stack.stack.stack import Options
from local_stack.stack_record import StackPhase, StackRecord

QUESTION = (
    "This kills and freezes the processes of the service at {url}, again and again. Jobs that train"
    " there are not hit themselves, but none starts or changes meanwhile as usual. Go on? [y/N] "
)


class CannotBeHit(Exception):
    """There is no such stack, or none that can be looked into, or a person said no."""


@contextmanager
def running_stack(*, is_agreed: bool, say: Callable[[str], None]) -> Iterator[TargetStack]:
    """The stack of this checkout, which goes on afterwards; its jobs for chaos are cancelled.

    Raises:
        CannotBeHit: with what to do about it.
    """
    checkout = checkouts.find()
    record = _ready(checkout)
    if not is_agreed and not _agrees(record):
        raise CannotBeHit("nothing was done: nobody agreed to it; --yes agrees beforehand")
    shared_dir = Path(tempfile.mkdtemp(prefix="concertina-chaos-jobs-"))
    shared_dir.chmod(0o777)
    stack = TargetStack(
        checkout=checkout,
        options=Options(tick_seconds=_tick_seconds(record)),
        url=record.url,
        tokens=dict(secrets_file.load_or_create(checkout).tokens),
        shared_dir=shared_dir,
        prefix=f"chaos-{secrets.token_hex(3)}",  # an earlier run's jobs may be there
        is_somebodys=True,
    )
    try:
        yield stack
    finally:
        _cancel_jobs(stack, say=say)
        shutil.rmtree(shared_dir, ignore_errors=True)


def _ready(checkout: Checkout) -> StackRecord:
    record = stack_record.current(checkout)
    if record is None or record.phase is not StackPhase.READY:
        raise CannotBeHit("no stack of this checkout is ready: start one with `./dev up`")
    if record.docker_url:
        raise CannotBeHit("its jobs run in containers: `./dev chaos --docker` tries those")
    if os.environ.get("DATABASE_URL"):
        raise CannotBeHit("DATABASE_URL is set: only a stack with PostgreSQL of its own is tried")
    return record


def _agrees(record: StackRecord) -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(QUESTION.format(url=record.url))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _tick_seconds(record: StackRecord) -> float:
    """The seconds between two ticks, as its control loop was told."""
    for one in record.processes:
        with suppress(psutil.Error, KeyError, ValueError):
            return float(psutil.Process(one.pid).environ()["CONCERTINA_TICK_SECONDS"])
    return Options().tick_seconds


def _cancel_jobs(stack: TargetStack, *, say: Callable[[str], None]) -> None:
    """Cancel the jobs that still train, as after an interrupt."""
    try:
        for token in stack.tokens.values():
            with Client(stack.url, token) as client:
                for job in client.jobs(search=stack.prefix):
                    if job["state"] not in FINAL:
                        client.cancel(job["id"])
    except ConcertinaError as trouble:
        say(f"Jobs whose names begin with {stack.prefix} may still train: cancel them ({trouble}).")
