"""How does a person let this machine in from their browser, without a password typed here?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from concertina.connection.questions.personal_tokens import token_wish
from concertina.errors import NotAllowed, RefusedByService

if TYPE_CHECKING:
    from collections.abc import Sequence

    from concertina.connection.connection import Send
    from concertina.connection.retrying import Clock
    from concertina.documents import MadePersonalToken, StartedDeviceLogin


class DeviceLogins:
    """Nobody needs a token for it: it ends with one."""

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock

    def start(
        self, name: str, *, days: int | None = None, scopes: Sequence[str] | None = None
    ) -> StartedDeviceLogin:
        """Ask for a token; a person types its `user_code` on the dashboard's page `/device`.

        Raises: Unreachable (as many logins wait as may), RefusedByService
        """
        body = token_wish(name, days=days, scopes=scopes)
        started = self._send("POST", "/device-logins", body=body, is_repeatable=False)[1]
        return cast("StartedDeviceLogin", started)

    def wait(self, started: StartedDeviceLogin) -> MadePersonalToken:
        """Block until the person has answered; its `key` is told this once.

        Raises: NotAllowed (they said no, or nothing in time), RefusedByService
        """
        code = {"device_code": started["device_code"]}
        try:
            while (state := self._send("POST", "/device-logins:poll", body=code)[1]["state"]) == (
                "pending"
            ):
                self._clock.sleep(started["interval"])
            if state == "refused":
                raise NotAllowed("The login was refused in the browser.", code="access_denied")
            made = self._send("POST", "/device-logins:redeem", body=code, is_repeatable=False)[1]
        except RefusedByService as refusal:
            if refusal.code != "expired_token":
                raise
            raise NotAllowed(
                "Nobody confirmed the login in time. Run it again.", code="expired_token"
            ) from refusal
        return cast("MadePersonalToken", made)
