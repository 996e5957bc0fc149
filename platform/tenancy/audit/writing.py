"""How is an entry written? By one statement, which also counts what happens again and again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils.crypto import salted_hmac

from tenancy.audit.kinds import KINDS, KindsOfTheHour, hour_of
from tenancy.audit.records import AuditRecord
from tenancy.audit.values import bounded
from tenancy.models.past.audit_entry import AuditEntry, AuditOutcome, AuditRepeats, AuditSenderKind

_ENTRIES: Final = AuditEntry._meta.db_table  # noqa: SLF001 - Django's own word
_REPEATS: Final = AuditRepeats._meta.db_table  # noqa: SLF001 - likewise
_SALT: Final = "tenancy.audit.writing"
# A name that nobody has may be a password in the wrong field, so it is not kept.
_VALUES: Final = """
    %(at)s, %(outcome)s, %(sender_kind)s,
    CASE WHEN %(tried)s::text IS NULL THEN %(sender)s ELSE coalesce(
        (SELECT username FROM auth_user WHERE username = %(tried)s), '') END,
    %(person_id)s, %(token_id)s, %(token_prefix)s, %(address)s, %(operation)s, %(target)s,
    coalesce(%(team_id)s, (SELECT id FROM tenancy_team WHERE name = %(team)s), %(sender_team)s),
    %(answer)s, %(before)s::jsonb, %(after)s::jsonb, %(key)s
"""
_COLUMNS: Final = (
    "at, outcome, sender_kind, sender, person_id, token_id, token_prefix, address, operation,"
    ' target, team_id, answer, "before", "after", repeats_key'
)
_ONE: Final = f"INSERT INTO {_ENTRIES} ({_COLUMNS}) SELECT {_VALUES}"
_COUNTED: Final = f"""
    WITH counted AS (
        INSERT INTO {_REPEATS} AS known (key, times, last_at) VALUES (%(key)s, 1, %(at)s)
        ON CONFLICT (key) DO UPDATE
            SET times = known.times + 1, last_at = greatest(known.last_at, excluded.last_at)
        RETURNING times
    )
    INSERT INTO {_ENTRIES} ({_COLUMNS}) SELECT {_VALUES} FROM counted WHERE times = 1
"""  # noqa: S608 - no input


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSender:
    """Who sent a request, as far as is known."""

    kind: AuditSenderKind = AuditSenderKind.UNKNOWN
    name: str = ""
    address: str = ""
    person_id: int | None = None
    token_id: int | None = None
    token_prefix: str = ""  # of a key that opened nothing, too
    team_id: int | None = None  # of a token


def write(
    record: AuditRecord, sender: AuditSender, outcome: AuditOutcome, *, answer: int, at: datetime
) -> None:
    """Write an entry of its own, in the transaction that there is."""
    with connection.cursor() as cursor:
        cursor.execute(_ONE, _row(record, sender, outcome, answer, at))


def count(
    record: AuditRecord,
    sender: AuditSender,
    outcome: AuditOutcome,
    *,
    answer: int,
    at: datetime,
    kinds: KindsOfTheHour = KINDS,
) -> None:
    """Write an entry if it is the first of its kind in this hour, else count it there.

    Of one kind is what somebody asks for from one address, with one key, and is answered. Of whom
    nobody knows, less is told once they are many.
    """
    hour = hour_of(at)
    rest = (hour, record.operation, answer)
    there = (*rest, sender.address)
    whole: tuple[Any, ...] = (*there, sender.kind, sender.name, sender.token_prefix)
    if outcome == AuditOutcome.DONE:
        whole = (*whole, record.target)
    kind = whole
    if sender.kind == AuditSenderKind.UNKNOWN:
        whole = (*whole, record.tried_name)
        degree = kinds.degree(sender.address, (whole, there), hour)
        kind = (whole, there, rest)[degree]
        if degree:
            is_there = degree == 1
            sender = AuditSender(address=sender.address if is_there else "")
            target = record.target if is_there else ""
            record = AuditRecord(operation=record.operation, target=target)
    key = salted_hmac(_SALT, repr(kind), algorithm="sha256").hexdigest()
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, {**_row(record, sender, outcome, answer, at), "key": key})


def as_told_by(sender: AuditSender, record: AuditRecord) -> AuditSender:
    """Return the sender, who may have said only now who they are."""
    if record.person is None:
        return sender
    person_id, name = record.person
    return replace(sender, kind=AuditSenderKind.PERSON, name=name, person_id=person_id)


def _row(
    record: AuditRecord, sender: AuditSender, outcome: AuditOutcome, answer: int, at: datetime
) -> dict[str, Any]:
    is_signing_in = record.tried_name is not None and sender.kind == AuditSenderKind.UNKNOWN
    return {
        "at": at,
        "outcome": outcome.value,
        "sender_kind": sender.kind.value,
        "sender": sender.name[:200],
        "tried": _plain(record.tried_name or "") if is_signing_in else None,
        "person_id": sender.person_id,
        "token_id": sender.token_id,
        "token_prefix": _plain(sender.token_prefix)[:12],
        "address": _plain(sender.address)[:64],
        "operation": record.operation[:100],
        "target": _plain(record.target)[:300],
        "team_id": record.team_id,
        "team": _team_in(record.target),
        "sender_team": sender.team_id,
        "answer": answer,
        "before": _json(record.before),
        "after": _json(record.after),
        "key": "",
    }


def _team_in(target: str) -> str | None:
    """Return the team that an address is about."""
    first, _, rest = target.partition("/")
    return _plain(rest.partition("/")[0])[:200] if first == "teams" and rest else None


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(bounded(value))


def _plain(text: str) -> str:
    """Return the text without what the database takes in no text."""
    return text.replace("\0", "").encode(errors="replace").decode()
