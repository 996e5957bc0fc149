"""What can be asked about webhooks: who is told what happens, and how that went?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from concertina.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from concertina.connection.connection import Send
    from concertina.documents import Delivery, DeliveryList, MadeWebhook, Webhook, WebhookList

_PATH = "/webhooks"


class Webhooks:
    """Leads and admins read and change them, as persons; a token may not."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def all(self, team: str | None = None) -> list[Webhook]:
        """All that the caller may change, or only a team's."""
        parameters = {} if team is None else {"team": team}
        answer = self._send("GET", _PATH, params=parameters)[1]
        return cast("WebhookList", answer)["items"]

    def add(
        self,
        name: str,
        url: str,
        *,
        shape: str = "json",
        kinds: Sequence[str] = (),
        states: Sequence[str] = (),
        is_on_request: bool = False,
        team: str | None = None,
        is_of_all_teams: bool = False,
    ) -> MadeWebhook:
        """Tell an address what happens from now on. The `key` that signs it is told this once.

        Raises: RefusedByService (the name is taken, or there are too many), NotAllowed
        """
        whose = None if is_of_all_teams else self._of_team(team).rpartition("/")[2]
        body: dict[str, Any] = {
            "team": whose,
            "name": name,
            "url": url,
            "shape": shape,
            "kinds": [*kinds],
            "states": [*states],
            "is_on_request": is_on_request,
        }
        return cast("MadeWebhook", self._send("POST", _PATH, body=body, is_repeatable=False)[1])

    def remove(self, reference: str, *, team: str | None = None) -> None:
        """Delete one, and forget what it was sent."""
        self._send("DELETE", self._path(reference, team), is_repeatable=False)

    def test(self, reference: str, *, team: str | None = None) -> Delivery:
        """Send a message to see whether it comes through."""
        path = f"{self._path(reference, team)}/test"
        return cast("Delivery", self._send("POST", path, is_repeatable=False)[1])

    def deliveries(
        self,
        reference: str,
        *,
        state: str | None = None,
        limit: int = 50,
        team: str | None = None,
    ) -> DeliveryList:
        """What was sent, the newest first."""
        parameters = {"limit": limit} | ({} if state is None else {"state": state})
        path = f"{self._path(reference, team)}/deliveries"
        return cast("DeliveryList", self._send("GET", path, params=parameters)[1])

    def replay(self, reference: str, delivery: str, *, team: str | None = None) -> Delivery:
        """Send something again, with the same id."""
        path = f"{self._path(reference, team)}/deliveries/{delivery}/replay"
        return cast("Delivery", self._send("POST", path, is_repeatable=False)[1])

    def find(self, reference: str, *, team: str | None = None) -> Webhook:
        """The webhook with this id, or the only one with this name.

        Raises:
            NotFound: there is none.
            BadInput: several have the name.
        """
        items = self.all(team)
        with_id = [one for one in items if str(one["id"]) == reference]
        found = with_id or [one for one in items if one["name"] == reference]
        if not found:
            raise NotFound(f"There is no webhook {reference!r} that you may change.")
        if len(found) > 1:
            ids = " or ".join(f"{one['id']} ({one['team'] or 'all teams'})" for one in found)
            raise BadInput(f"{len(found)} webhooks are called {reference!r}. Give an id: {ids}.")
        return found[0]

    def _path(self, reference: str, team: str | None) -> str:
        return f"{_PATH}/{self.find(reference, team=team)['id']}"
