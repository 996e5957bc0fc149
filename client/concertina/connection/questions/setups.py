"""What can be asked about what admins have set up?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from concertina.connection.connection import Send
    from concertina.documents import SetupOutcome, WholeSetup

_PATH = "/cluster/setup"


class WholeSetups:
    """Pools, nodes, teams, quotas, limits and rules for images as one document, for admins."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def read(self, *, as_of: datetime | None = None) -> WholeSetup:
        """All of it, with its version, or what it was at a moment.

        Raises: NotAllowed (not an admin), RefusedByService (nobody knows what it was then).
        """
        params = None if as_of is None else {"as_of": as_of.isoformat()}
        return cast("WholeSetup", self._send("GET", _PATH, params=params)[1])

    def preview(self, setup: Mapping[str, Any], *, prune: bool = False) -> SetupOutcome:
        """What would change. Raises: RefusedByService (it cannot be), NotAllowed."""
        body = {"setup": dict(setup), "prune": prune}
        return cast("SetupOutcome", self._send("POST", f"{_PATH}:preview", body=body)[1])

    def apply(
        self, setup: Mapping[str, Any], *, prune: bool = False, version: str | None = None
    ) -> SetupOutcome:
        """Change all that is different, or nothing; with `prune` remove what is left out.

        With the `version` that you have seen it is refused if somebody was quicker. It is then not
        sent again after a broken connection: that version may be gone because it was done.
        """
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        body = {"setup": dict(setup), "prune": prune}
        answer = self._send(
            "POST",
            f"{_PATH}:apply",
            body=body,
            headers=headers,
            is_repeatable=version is None,
        )[1]
        return cast("SetupOutcome", answer)
