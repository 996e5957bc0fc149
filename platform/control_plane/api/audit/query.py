"""Which entries of the audit log does a request ask for?"""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers
from tenancy.models import AuditOutcome

from jobs.api.requests import MomentField
from jobs.queries.curves.tables import TableFormat

MOST: Final = 1000  # entries of one answer


def _text(most: int, said: str) -> serializers.CharField:
    return serializers.CharField(
        required=False, default="", allow_blank=True, max_length=most, help_text=said
    )


class AuditQuery(serializers.Serializer[Any]):
    team = _text(200, "Only entries about this team.")
    sender = _text(200, "Only what this person did, or a token, as TEAM/NAME.")
    token = serializers.RegexField(
        r"^(ct_[A-Za-z0-9_-]{1,9}|[0-9]{1,18})?$",
        required=False,
        default="",
        allow_blank=True,
        error_messages={"invalid": "Give its id, or the beginning of its key as entries have it."},
        help_text="Only what was done with this token: its id, or the beginning of its key.",
    )
    operation = _text(100, "Only this operation, such as change_quota.")
    object = _text(300, "Only this address and those below it, such as teams/vision.")
    outcome = serializers.ChoiceField(
        choices=AuditOutcome.values,
        required=False,
        default="",
        allow_blank=True,
        help_text="Only what was done, was refused for who asked, or failed for another reason.",
    )
    since = MomentField(required=False, default=None, help_text="None before this moment.")
    until = MomentField(required=False, default=None, help_text="None from this moment on.")
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=MOST)
    cursor = serializers.RegexField(
        r"^[0-9]{0,18}$", required=False, default="", allow_blank=True, help_text="As answered."
    )
    format = serializers.ChoiceField(
        choices=[kind.value for kind in TableFormat], default=TableFormat.JSON.value
    )
