"""Which policies may a pool have, and which options does each take?"""

from __future__ import annotations

import math
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies.options import Option


class PolicyOptionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    explanation = serializers.CharField()
    default = serializers.JSONField(help_text="A number, or one of the choices.")
    choices = serializers.ListField(
        child=serializers.CharField(), help_text="None: the option is a number."
    )
    at_least = serializers.FloatField(allow_null=True, help_text="null: it has no lower bound.")


class PolicySerializer(serializers.Serializer[Any]):
    """A policy of this installation, which may be an extension's."""

    name = serializers.CharField()
    summary = serializers.CharField(help_text="What it does, to stand behind its name.")
    options = PolicyOptionSerializer(many=True)


class PolicyListSerializer(serializers.Serializer[Any]):
    items = PolicySerializer(many=True)


class PoliciesView(APIView):
    @extend_schema(
        operation_id="list_policies",
        summary="The policies of this installation, which pools may have and simulations replay",
        responses=PolicyListSerializer,
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - Django's signature
        catalogue = installed_policies()
        items = [
            {
                "name": name,
                "summary": policy.summary,
                "options": [_document(option) for option in catalogue.options(name)],
            }
            for name, policy in catalogue.policies.items()
        ]
        return Response(PolicyListSerializer({"items": items}).data)


def _document(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "explanation": option.explanation,
        "default": option.default,
        "choices": option.choices,
        "at_least": option.at_least if math.isfinite(option.at_least) else None,
    }
