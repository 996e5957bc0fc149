"""What are endpoints of rules and templates sent, and what do they answer?"""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs.api.requests import KnownFieldsMixin
from jobs.models import JobTemplate
from jobs.models.team_rules import LONGEST_DESCRIPTION
from jobs.spec.rules.bounded_fields import FIELDS
from jobs.spec.rules.rule_set import MOST_CHARACTERS, MOST_LABELS, MOST_POOLS

_NAME: Final = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"
_PART_OF_SPEC: Final = {"type": "object", "additionalProperties": {}}
_BOUND: Final = {"type": "object", "minProperties": 1, "additionalProperties": {}}


@extend_schema_field(_PART_OF_SPEC)
class PartialSpecField(serializers.JSONField):
    """A part of a job spec, which is checked by those who know specs."""


@extend_schema_field(
    {
        "type": "object",
        "propertyNames": {"enum": list(FIELDS)},
        "additionalProperties": _BOUND,
    }
)
class BoundsField(serializers.JSONField):
    """Least and most, by field."""


@extend_schema_field(
    {
        "type": "object",
        "maxProperties": MOST_LABELS,
        "additionalProperties": {"type": "object", "maxProperties": 1, "additionalProperties": {}},
    }
)
class LabelRulesField(serializers.JSONField):
    """What each label has to be, by its name."""


@extend_schema_field({"type": "array", "items": {"type": "string"}, "minItems": 1})
class AllowedWordsField(serializers.JSONField):
    """Words, of which each is allowed."""


def _words(help_text: str) -> AllowedWordsField:
    return AllowedWordsField(required=False, allow_null=True, help_text=help_text)


class RuleSetSerializer(serializers.Serializer[Any]):
    """What a team says of the specs of its jobs."""

    defaults = PartialSpecField(
        required=False,
        allow_null=True,
        help_text="What a job gets where its spec and its template say nothing; at most"
        f" {MOST_CHARACTERS} characters.",
    )
    bounds = BoundsField(
        required=False,
        allow_null=True,
        help_text="`least` and `most` of fields, written as the field is; `gpus` is of all workers"
        " of a job together.",
    )
    labels = LabelRulesField(
        required=False,
        allow_null=True,
        help_text="Labels that each job has: one of `values`, a `pattern` in which * is any"
        " characters, or, with neither, any value.",
    )
    pools = _words(f"Pools in which its jobs may run, at most {MOST_POOLS}; null: all.")
    modes = _words("Values that `elastic.mode` may have; null: all.")


class RulesBody(KnownFieldsMixin, RuleSetSerializer):
    """What to change: a part that is named takes the place of the whole; null takes it away."""

    is_locked = serializers.BooleanField(
        required=False,
        help_text="True: leads of the team itself change nothing of them. For admins, and leads of"
        " a team above.",
    )


class RulesAboveSerializer(serializers.Serializer[Any]):
    """The rules of a team above, which count as well."""

    team = serializers.CharField()
    rules = RuleSetSerializer()


class TeamRulesSerializer(serializers.Serializer[Any]):
    """The rules of a team, and all others that count for its jobs."""

    team = serializers.CharField()
    version = serializers.CharField(help_text="Another one whenever something of them is.")
    is_locked = serializers.BooleanField(
        help_text="True: leads of the team itself change nothing of them."
    )
    may_change = serializers.BooleanField(help_text="True if the caller may change them.")
    may_lock = serializers.BooleanField(help_text="True if the caller may lock and unlock them.")
    rules = RuleSetSerializer()
    above = RulesAboveSerializer(many=True, help_text="The nearest first; only those that say any.")
    defaults = PartialSpecField(help_text="What a job gets, of all these together.")


class TemplateChangeBody(KnownFieldsMixin, serializers.Serializer[Any]):
    """What to change of a template; what is left out stays."""

    description = serializers.CharField(
        max_length=LONGEST_DESCRIPTION, required=False, allow_blank=True
    )
    spec = PartialSpecField(required=False)


class TemplateBody(KnownFieldsMixin, serializers.Serializer[Any]):
    """A template as it is to be."""

    name = serializers.RegexField(
        _NAME,
        error_messages={
            "invalid": "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a"
            " letter."
        },
    )
    description = serializers.CharField(
        max_length=LONGEST_DESCRIPTION, default="", allow_blank=True
    )
    spec = PartialSpecField(
        help_text="What a job gets where its own spec says nothing; no name, team or array. At most"
        f" {MOST_CHARACTERS} characters."
    )


class TemplateSerializer(serializers.ModelSerializer[JobTemplate]):
    """A part of a job spec with a name."""

    team = serializers.CharField(
        source="team.name", help_text="That has it: this one, or one above it."
    )
    spec = PartialSpecField()
    version = serializers.IntegerField(
        help_text="Counts up with each change; a job tells with which one it began."
    )
    may_change = serializers.BooleanField(help_text="True if the caller may change and delete it.")

    class Meta:
        model = JobTemplate
        fields = (
            *("team", "name", "description", "spec", "version", "may_change"),
            *("created_at", "changed_at", "changed_by"),
        )
        read_only_fields = fields


class TemplateListSerializer(serializers.Serializer[Any]):
    may_add = serializers.BooleanField(help_text="True if the caller may add one to this team.")
    items = TemplateSerializer(many=True)
