"""Who has just signed in or out, wherever one does? Django says so."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out

from tenancy.audit import records


def connect() -> None:
    """Listen from now on."""
    for signal in (user_logged_in, user_logged_out):
        signal.connect(_note, dispatch_uid="tenancy.audit.signing")


def _note(user: object, **_: Any) -> None:
    if isinstance(user, User):
        records.note_person(user.pk, user.get_username())
