"""Who is told that a month of a team is over? Its webhooks, those of teams above, and of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tenancy.queries import TeamsWithLimits

from webhooks.models import Webhook, WebhookDelivery
from webhooks.outbox import TRIED_FOR
from webhooks.shapes import MONTH_KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthListeners:
    """Which webhooks want to be told of each team's month."""

    by_team: Mapping[str, Sequence[Webhook]]

    @classmethod
    def read(cls) -> MonthListeners:
        """Read them in two statements."""
        own = defaultdict[int | None, list[Webhook]](list)
        for one in Webhook.objects.filter(is_enabled=True, is_on_request=False):
            if not one.kinds or MONTH_KIND in one.kinds:
                own[one.team_id].append(one)
        tree = TeamsWithLimits.read()
        found = {
            team.name: [*own[None], *(one for above in tree.line(pk) for one in own[above.pk])]
            for pk, team in tree.teams.items()
        }
        return cls(by_team={team: some for team, some in found.items() if some})


def put_into_outbox(
    teams: Collection[str],
    listeners: MonthListeners,
    body: Callable[[str, str], str],
    now: datetime,
) -> int:
    """Write what each of them is sent, by team and shape, in the transaction that there is."""
    return len(
        WebhookDelivery.objects.bulk_create(
            _deliveries(teams, listeners, body, now), batch_size=500
        )
    )


def _deliveries(
    teams: Collection[str],
    listeners: MonthListeners,
    body: Callable[[str, str], str],
    now: datetime,
) -> Iterator[WebhookDelivery]:
    for team in sorted(teams):
        for one in listeners.by_team.get(team, ()):
            yield WebhookDelivery(
                webhook=one,
                kind=MONTH_KIND,
                body=body(team, one.shape),
                created_at=now,
                expires_at=now + TRIED_FOR,
                due_at=now,
            )
