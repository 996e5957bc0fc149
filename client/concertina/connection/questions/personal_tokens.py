"""What can be asked about the keys of a person?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from concertina.connection.connection import Send
    from concertina.documents import MadePersonalToken, PersonalTokenList

PREFIX = "cp_"
"""With this the key of a person begins."""


class PersonalTokens:
    """People make them, with their password; a token lists and revokes itself alone."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(self) -> PersonalTokenList:
        """Valid ones, then those that ended last."""
        return cast("PersonalTokenList", self._send("GET", "/personal-tokens")[1])

    def add(
        self, name: str, *, days: int | None = None, scopes: Sequence[str] | None = None
    ) -> MadePersonalToken:
        """Make one that lasts so many days, None: as long as usual. Its `key` is told this once.

        It may do what the `scopes` say, as far as its person may: `read`, `submit`, `manage-jobs`,
        `manage-team`, `admin`; None: all of them but `admin`.

        Raises: RefusedByService (the name is taken, or it would last too long), NotAllowed
        """
        body = token_wish(name, days=days, scopes=scopes)
        made = self._send("POST", "/personal-tokens", body=body, is_repeatable=False)[1]
        return cast("MadePersonalToken", made)

    def revoke(self, number: int) -> None:
        """Make it useless at once. Raises: NotFound, NotAllowed (a token, and not itself)."""
        self._send("DELETE", f"/personal-tokens/{number}")


def token_wish(name: str, *, days: int | None, scopes: Sequence[str] | None) -> dict[str, Any]:
    """Return what is sent of a token that is asked for; None: as the service usually has it."""
    wished = {"name": name, "days": days, "scopes": None if scopes is None else [*scopes]}
    return {key: value for key, value in wished.items() if value is not None}
