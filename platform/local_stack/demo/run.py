"""How does the demo run? Service up, jobs in, live table, summary; the service stays for a look."""

from __future__ import annotations

import contextlib
import time

from concertina.errors import ConcertinaError
from local_stack import gpus, secrets_file, stack_record
from local_stack.checkout import Checkout
from local_stack.commands.trouble import TROUBLE, explain
from local_stack.commands.up import introduce
from local_stack.containers import images
from local_stack.demo import scripts, summary, workload
from local_stack.demo.conductor import Conductor
from local_stack.demo.screen import screen
from local_stack.demo.scripts import Scripts
from local_stack.stack import background
from local_stack.stack.stack import Options
from local_stack.stack_record import StackPhase, StackRecord
from local_stack.terminal import coloured, say

TICK_SECONDS = 2.0  # livelier than the default of 5 s
LOOK_SECONDS = 0.5
FAILED = 1


class StoppedByOther(Exception):
    """Somebody stopped the service while the demo ran."""


def demo(checkout: Checkout, *, slots: int | None, host: str, is_over_after_summary: bool) -> int:
    """Run the demo; exit code 0 only if every job completed and learned what it should."""
    was_up = stack_record.is_up(checkout)
    try:
        options = _options(slots, host)
        return _demo(checkout, options, is_waiting=not (was_up or is_over_after_summary))
    except TROUBLE as trouble:
        return explain(trouble)
    except (ConcertinaError, StoppedByOther) as trouble:
        say(coloured(f"✗ {trouble}", "red"))
        return FAILED
    finally:
        if not was_up:
            say("Stopping…")
            background.stop(checkout, say=say)
            say("Stopped.")


def _options(slots: int | None, host: str) -> Options:
    return Options(
        slots=slots or gpus.slots_of_a_demo(gpus.find()), tick_seconds=TICK_SECONDS, host=host
    )


def _demo(checkout: Checkout, options: Options, *, is_waiting: bool) -> int:
    record = _ensure_up(checkout, options)
    introduce(checkout, record)
    with contextlib.closing(_conductor(checkout, record)) as conductor:
        try:
            _watch(checkout, options, conductor)
        except KeyboardInterrupt:
            say("Interrupted: cancelling the demo's jobs.")
            conductor.cancel()
            raise
        is_good = _summarise(conductor)
    if is_waiting:
        say()
        say(f"The service stays up at {coloured(record.url, 'cyan')}; Ctrl-C stops it.")
        _wait_until_stopped(checkout)
    return 0 if is_good else FAILED


def _conductor(checkout: Checkout, record: StackRecord) -> Conductor:
    return Conductor(
        workload.jobs(),
        url=record.url,
        tokens=secrets_file.load_or_create(checkout).tokens,
        scripts=_scripts(checkout, record),
    )


def _scripts(checkout: Checkout, record: StackRecord) -> Scripts:
    if not record.docker_url:
        return scripts.of_checkout(checkout.root)
    return scripts.of_image(images.demo_image(checkout, record.docker_url))


def _summarise(conductor: Conductor) -> bool:
    outcomes = [
        summary.DemoJobOutcome(planned=job, job=conductor.documents[job.name])
        for job in workload.jobs()
    ]
    return summary.show(outcomes, slots=conductor.slots, elapsed_seconds=conductor.elapsed_seconds)


def _ensure_up(checkout: Checkout, options: Options) -> StackRecord:
    record = background.settled(checkout)
    if record is not None:
        say("The service is up already; the demo's jobs join it.")
        return record
    say("Starting Concertina")
    return background.start(checkout, options, ends_with_us=True, say=say)


def _watch(checkout: Checkout, options: Options, conductor: Conductor) -> None:
    conductor.prepare()
    with screen(conductor) as redraw:
        while not conductor.is_over:
            conductor.run_once()
            redraw()
            if conductor.is_service_away:
                _revive(checkout, options)
            time.sleep(LOOK_SECONDS)


def _revive(checkout: Checkout, options: Options) -> None:
    """Start the supervisor again if it was killed; the trainings go on meanwhile."""
    if stack_record.is_up(checkout):
        return
    record = stack_record.read(checkout)
    if record is not None and record.phase is StackPhase.STOPPING:
        raise StoppedByOther(StoppedByOther.__doc__)
    background.start(checkout, options, ends_with_us=True, say=lambda _: None)


def _wait_until_stopped(checkout: Checkout) -> None:
    try:
        while stack_record.is_up(checkout):
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return
