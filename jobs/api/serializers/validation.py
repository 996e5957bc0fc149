"""Would a spec be accepted, and what is wrong with it?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ProblemSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    value = serializers.JSONField()
    problem = serializers.CharField()
    remedy = serializers.CharField()


class ValidationSerializer(serializers.Serializer[Any]):
    resolved_spec = serializers.DictField(allow_null=True, help_text="null if there are problems.")
    problems = ProblemSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
