"""How does a message look to who receives it? As JSON of ours, as a chat takes it, or as a mail."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from webhooks.models import WebhookShape

TEST_KIND: Final = "test"
MONTH_KIND: Final = "month_closed"
SCHEDULE_REFUSED: Final = "schedule_refused"
SCHEDULE_PAUSED: Final = "schedule_paused"
MOST_BODY: Final = 16 << 10  # bytes; of a longer event its data are left out
_MOST_TEXT: Final = 1000  # characters of an event's message in a chat, or if it is too long
_SLACK: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MATTERMOST: Final = str.maketrans(  # nobody is called by what a job is named
    {"@": "@\u200b", **{sign: f"\\{sign}" for sign in "\\`*_{}[]()<>#+-.!|~"}}
)


def body_of(shape: str, event: Mapping[str, Any], *, service_url: str) -> str:
    """Return what is sent of an event, which is as the API has it."""
    url = f"{service_url.rstrip('/')}/jobs/{event['job_id']}"
    if shape == WebhookShape.JSON:
        whole = _json({**event, "url": url})
        return whole if len(whole) <= MOST_BODY else _json({**_short(event), "url": url})
    words = event["new_state"] or event["kind"].replace("_", " ")
    if shape == WebhookShape.MAIL:
        return _mail(f"{event['job_name']}: {words}", event, url)
    told = f": {event['message'][:_MOST_TEXT]}" if event["message"] else ""
    return _chat(shape, event["job_name"], f"({event['team']}) {words}{told}", url)


def _json(event: Mapping[str, Any]) -> str:
    return json.dumps({"type": event["kind"], "timestamp": event["at"], "data": event})


def _short(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a long event without its data, and with the beginning of its message."""
    kept = {name: value for name, value in event.items() if name != "data"}
    return {**kept, "message": event["message"][:_MOST_TEXT]}


def month_body(shape: str, report: Mapping[str, Any], *, mail: Mapping[str, str], url: str) -> str:
    """Return what is sent of a team's month: `report` as the API has it, `mail` in words."""
    if shape == WebhookShape.MAIL:
        return json.dumps(mail)
    if shape != WebhookShape.JSON:
        return _chat(shape, mail["title"], report["message"], url)
    document = {**report, "url": url}
    whole = _month_json(document)
    if len(whole) <= MOST_BODY:
        return whole
    short = {name: value for name, value in document.items() if not name.startswith("by_")}
    return _month_json(short)


def _month_json(report: Mapping[str, Any]) -> str:
    return json.dumps({"type": MONTH_KIND, "timestamp": report["until"], "data": report})


def schedule_body(shape: str, event: Mapping[str, Any], *, service_url: str) -> str:
    """Return what is sent of a schedule: its `kind`, `at`, `team`, `schedule` and `message`."""
    url = f"{service_url.rstrip('/')}/teams/{event['team']}"
    if shape == WebhookShape.JSON:
        return _json({**event, "url": url})
    title, words = f"Schedule {event['schedule']}", event["kind"].replace("_", " ")
    if shape == WebhookShape.MAIL:
        lines = [
            *(event["message"][:_MOST_TEXT], ""),
            f"Schedule:  {event['schedule']} of team {event['team']}",
            f"When:      {event['at'][:19].replace('T', ' ')} UTC",
            url,
        ]
        return json.dumps({"subject": f"{title}: {words}", "text": "\n".join(lines) + "\n"})
    told = f"({event['team']}) {words}: {event['message'][:_MOST_TEXT]}"
    return _chat(shape, title, told, url)


def test_body(shape: str, *, name: str, at: datetime, service_url: str) -> str:
    """Return what is sent when somebody tries a webhook."""
    if shape == WebhookShape.JSON:
        moment = at.isoformat().replace("+00:00", "Z")
        return json.dumps({"type": TEST_KIND, "timestamp": moment, "data": {"webhook": name}})
    if shape == WebhookShape.MAIL:
        text = f"Somebody tries whether mail of webhook {name} arrives. It does.\n\n{service_url}\n"
        return json.dumps({"subject": f"Concertina tests its webhook {name}", "text": text})
    return _chat(shape, "Concertina", f"tests its webhook {name}.", service_url)


def _mail(subject: str, event: Mapping[str, Any], url: str) -> str:
    """Return a mail's subject and text, of which the first lines are what a telephone shows."""
    lines = [
        *([event["message"][:_MOST_TEXT], ""] if event["message"] else []),
        f"Job:  {event['job_name']} of team {event['team']}",
        f"When: {event['at'][:19].replace('T', ' ')} UTC",
        url,
    ]
    return json.dumps({"subject": subject, "text": "\n".join(lines) + "\n"})


def _chat(shape: str, title: str, text: str, url: str) -> str:
    if shape == WebhookShape.SLACK:
        return json.dumps({"text": f"<{url}|{title.translate(_SLACK)}> {text.translate(_SLACK)}"})
    escaped: Callable[[str], str] = lambda words: words.translate(_MATTERMOST)  # noqa: E731 - short
    return json.dumps({"text": f"[{escaped(title)}]({url}) {escaped(text)}"})
