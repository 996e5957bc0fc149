"""How is the API described? drf-spectacular's generator, taught our errors."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class ErrorDetailSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Empty: the request as a whole.")
    value = serializers.JSONField(allow_null=True, help_text="As it was sent, if small.")
    problem = serializers.CharField()
    remedy = serializers.CharField()


class ErrorSerializer(serializers.Serializer[Any]):
    """The body of every error."""

    code = serializers.CharField(help_text="Stable; for programs.")
    message = serializers.CharField(help_text="For people.")
    details = ErrorDetailSerializer(many=True)


_SPEC_WRITERS: Final = frozenset({"submit_job"})
_STEERING: Final = frozenset({"cancel_job", "pause_job", "resume_job"})


class Schema(AutoSchema):
    """Adds to each operation the errors it may answer with, and its group."""

    def get_tags(self) -> list[str]:
        first = self.path.removeprefix("/api/v1/").split("/")[0].split(":")[0]
        return [first]

    def get_response_serializers(self) -> Any:
        answers: Any = super().get_response_serializers()
        if not isinstance(answers, dict):
            answers = {200: answers}
        return {**answers, **dict.fromkeys(self._error_codes(), ErrorSerializer)}

    def _error_codes(self) -> list[int]:
        operation = self.get_operation_id()
        codes = [] if operation == "get_health" else [401]
        if "{" in self.path:
            codes.append(404)
        if operation in _SPEC_WRITERS:
            codes += [400, 409, 422]
        if operation in _STEERING:
            codes += [400, 409]
        return codes


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """Tells the generator what a team token looks like."""

    target_class = "tenancy.authentication.TokenAuthentication"
    name = "teamToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ct_…"}
