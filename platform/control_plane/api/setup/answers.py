"""What is a change of the set-up answered with? What became of each object, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from control_plane.setup.applying import SetupOutcome
from control_plane.setup.changes import SetupAction
from control_plane.setup.objects import SetupKey, SetupKind


class SetupFieldChangeSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    before = serializers.JSONField(allow_null=True, help_text="null, too, if it is new.")
    after = serializers.JSONField(allow_null=True, help_text="null, too, if it is removed.")


class SetupObjectSerializer(serializers.Serializer[Any]):
    """An object of the set-up."""

    kind = serializers.ChoiceField([one.value for one in SetupKind])
    of = serializers.CharField(
        help_text="The team of a quota or rule, the pool of an image; empty: of none."
    )
    name = serializers.CharField(help_text="A quota is called as its pool, a rule as its pattern.")


class SetupChangeSerializer(SetupObjectSerializer):
    """What becomes of an object."""

    action = serializers.ChoiceField([one.value for one in SetupAction])
    fields_changed = SetupFieldChangeSerializer(
        many=True, help_text="Of a new object what the document says of it."
    )


class SetupOutcomeSerializer(serializers.Serializer[Any]):
    """What changes; nothing, if the set-up is as the document says."""

    changes = SetupChangeSerializer(many=True)
    kept = SetupObjectSerializer(
        many=True, help_text="In groups that the document names, but not named: `prune` removes it."
    )
    version_before = serializers.CharField(help_text="Send it as `If-Match` to apply just this.")
    version = serializers.CharField(help_text="Of the set-up with these changes.")


def outcome_document(outcome: SetupOutcome) -> Any:
    """Return what an outcome is in JSON."""
    changes = [
        {
            **_object(one.key),
            "action": one.action.value,
            "fields_changed": [
                {"field": part.field, "before": part.before, "after": part.after}
                for part in one.fields
            ],
        }
        for one in outcome.plan.changes
    ]
    return {
        "changes": changes,
        "kept": list(_objects(outcome.plan.kept)),
        "version_before": outcome.before,
        "version": outcome.version,
    }


def _objects(keys: Iterable[SetupKey]) -> Iterable[dict[str, str]]:
    return map(_object, keys)


def _object(key: SetupKey) -> dict[str, str]:
    return {"kind": key.kind.value, "of": key.of, "name": key.name}
