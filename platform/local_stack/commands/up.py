"""How does a person start the service, and what are they told?"""

from __future__ import annotations

import sys
from pathlib import Path

from local_stack import secrets_file
from local_stack.checkout import Checkout
from local_stack.commands.trouble import TROUBLE, explain
from local_stack.stack import background
from local_stack.stack.stack import Options, Stack
from local_stack.stack_record import AlreadyUp, StackRecord
from local_stack.terminal import coloured, say


def up(checkout: Checkout, options: Options, *, is_detached: bool) -> int:
    """Start the service unless it is up; blocks until Ctrl-C unless detached."""
    try:
        if not _is_up_already(checkout):
            _start(checkout, options, is_detached=is_detached)
    except AlreadyUp as trouble:  # somebody was faster by a moment
        return 0 if _is_up_already(checkout) else explain(trouble)
    except TROUBLE as trouble:
        return explain(trouble)
    return 0


def _start(checkout: Checkout, options: Options, *, is_detached: bool) -> None:
    say("Starting Concertina")
    if is_detached:
        introduce(checkout, background.start(checkout, options, ends_with_us=False, say=say))
        say("Stop it with ./dev down")
    else:
        Stack(checkout, options, say=say, on_ready=_welcome).run()
        say("Stopped.")


def _is_up_already(checkout: Checkout) -> bool:
    """True if a stack is up already; a person is then told where, once it is ready."""
    record = background.settled(checkout)
    if record is None:
        return False
    say("The service is already up.")
    introduce(checkout, record)
    return True


def supervise(checkout: Checkout, options: Options) -> int:
    """Be the supervisor behind `up --detach` and `demo`, which read the record and our output."""
    try:
        Stack(checkout, options, say=say, on_ready=lambda _checkout, _record: None).run()
    except AlreadyUp:
        return background.ALREADY_UP
    except TROUBLE as trouble:
        say(f"✗ {trouble}")
        return 1
    return 0


def _welcome(checkout: Checkout, record: StackRecord) -> None:
    introduce(checkout, record)
    say("Ctrl-C stops it.")


def _introduce_command_line(
    checkout: Checkout, record: StackRecord, secrets: secrets_file.Secrets
) -> None:
    """The one line that logs it in, as the first team; a service of one's own has other tokens."""
    if not secrets.tokens:
        return
    team, token = next(iter(secrets.tokens.items()))
    program = Path(sys.executable).parent / "concertina"
    say(f"  CLI        {program} login {record.url} --token {token}")
    say(f"             as team {team}; tokens of all teams: {secrets_file.path(checkout)}")


def introduce(checkout: Checkout, record: StackRecord) -> None:
    """Tell where the dashboard is and how to get in."""
    secrets = secrets_file.load_or_create(checkout)
    say()
    say(f"  Dashboard  {coloured(record.url, 'cyan')}")
    say(f"  Login      {secrets.admin_username} / {secrets.admin_password}")
    say(f"  API        {record.url}/api/v1/docs")
    _introduce_command_line(checkout, record, secrets)
    say()
