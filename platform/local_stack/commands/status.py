"""What runs, where, since when? Standard library only."""

from __future__ import annotations

import json
import time
import urllib.request

from local_stack import stack_record
from local_stack.checkout import Checkout
from local_stack.stack_record import ProcessRecord, StackRecord
from local_stack.terminal import coloured, duration, say

NOT_UP = 3  # like `systemctl status`


def status(checkout: Checkout) -> int:
    """Print the state of the stack; exit code 0 when it is up, 3 when it is not."""
    record = stack_record.current(checkout)
    if record is None:
        say("The service is not up. Start it with ./dev up")
        return NOT_UP
    up_for = duration(time.time() - record.started_at)
    say(f"{coloured(record.phase, 'green')} for {up_for}: {record.doing}")
    say(f"Dashboard  {record.url}")
    say(f"Health     {_health(record)}")
    say(f"Jobs       {_jobs(record)}")
    say()
    say(f"{'process':<10} {'pid':>8} {'up for':>12} {'restarts':>9}  last exit")
    for process in record.processes:
        say(_line(process))
    return 0


def _jobs(record: StackRecord) -> str:
    if why := record.why_jobs_are_trusted:
        warning = f"run as this service's own user, with all its rights: {why}"
        return coloured(warning, "yellow")
    if not record.docker_url:
        return "run as processes of this machine, each team's as a user of its own"
    return f"run in containers of Docker at {record.docker_url}"


def _line(process: ProcessRecord) -> str:
    up_for = duration(time.time() - process.started_at)
    return (
        f"{process.name:<10} {process.pid:>8} {up_for:>12} {process.restarts:>9}"
        f"  {process.last_exit}".rstrip()
    )


def _health(record: StackRecord) -> str:
    try:
        with urllib.request.urlopen(f"{record.url}/api/v1/health", timeout=3) as answer:
            document = json.load(answer)
    except (OSError, ValueError) as trouble:
        return coloured(f"the api does not answer ({trouble})", "red")
    plans = document.pop("plans", None) or {}
    line = ", ".join(f"{name} {value}" for name, value in document.items())
    if plans.get("jobs_left_out"):
        line += f", {plans['jobs_left_out']} jobs left out of plans"
    if not plans.get("message"):
        return line
    return f"{line}\n{coloured(plans['message'], 'red')}"
