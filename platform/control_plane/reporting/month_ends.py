"""How is a team told once that its month is over? Its report goes into the outbox of webhooks.

Reports are made before the transaction begins: hours that are closed never change.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from django.db import transaction
from webhooks import months as month_webhooks
from webhooks import shapes
from webhooks.months import MonthListeners

from autoscaler.gpu_accounts import months
from autoscaler.gpu_accounts.reading import report
from autoscaler.gpu_accounts.reading.report import EndedJobs
from control_plane.api.usage import report_words
from control_plane.api.usage.report_composing import team_report
from control_plane.api.usage.report_documents import MonthReportSerializer
from jobs.api.representation import represented

_log: Final = logging.getLogger(__name__)


def tell_months(
    now: datetime, *, service_url: str, has_time: Callable[[], bool] = lambda: True
) -> int:
    """Tell of each month that is over and was not told of; return how many that were.

    A month without accounts and ended jobs of a team is none of which it is told.
    """
    told = 0
    while has_time() and (month := months.month_to_tell()) is not None:
        told += _tell(month, now, service_url)
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthMessage:
    """What is sent of one team's month, in any shape."""

    document: Mapping[str, Any]
    mail: Mapping[str, str]
    url: str

    def body(self, shape: str) -> str:
        return shapes.month_body(shape, self.document, mail=self.mail, url=self.url)


def _tell(month: date, now: datetime, service_url: str) -> bool:
    ended = report.count_ended(month)
    teams = _active_teams(month, ended)
    listeners = MonthListeners.read()
    messages = {
        team: _message(team, month, service_url)
        for team in sorted(teams & listeners.by_team.keys())
    }
    with transaction.atomic():
        if not months.note_told(month, {team: ended.get(team, EndedJobs()) for team in teams}):
            return False
        count = month_webhooks.put_into_outbox(
            messages.keys(), listeners, lambda team, shape: messages[team].body(shape), now
        )
    extra = {"action": "month_closed", "month": f"{month:%Y-%m}", "teams": len(teams)}
    _log.info("Month %s is over: %s messages tell it.", f"{month:%Y-%m}", count, extra=extra)
    return True


def _active_teams(month: date, ended: Mapping[str, EndedJobs]) -> Collection[str] | set[str]:
    with_accounts = {team for team, _ in report.read_sums(month).asked if team}
    return with_accounts | ended.keys()


def _message(team: str, month: date, service_url: str) -> MonthMessage:
    document = represented(MonthReportSerializer, team_report(team, month))
    url = f"{service_url.rstrip('/')}/teams/{team}/report/{month:%Y-%m}"
    mail = {
        "subject": report_words.subject_of(document),
        "text": report_words.text_of(document, url),
        "title": f"{team}, {report_words.month_in_words(document['month'])}",
    }
    return MonthMessage(document=document, mail=mail, url=url)
