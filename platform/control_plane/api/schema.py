"""How is the API described? drf-spectacular's generator, taught our errors."""

from __future__ import annotations

from typing import Any, Final, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class ErrorDetailSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Empty: the request as a whole.")
    value = serializers.JSONField(help_text="As it was sent, if small.")
    problem = serializers.CharField()
    remedy = serializers.CharField()


class ErrorSerializer(serializers.Serializer[Any]):
    """The body of every error."""

    code = serializers.CharField(help_text="Stable; for programs.")
    message = serializers.CharField(help_text="For people.")
    details = ErrorDetailSerializer(many=True)


Direction = Literal["request", "response"]

_ERRORS: Final[dict[str, list[int]]] = {  # beyond 401, and 404 where an address names something
    "get_health": [],
    "log_in": [400, 429],
    "change_team": [400, 403],
    "submit_job": [400, 409, 413, 422],
    "validate_job": [400, 413],
    "cancel_job": [409],
    "pause_job": [409],
    "resume_job": [409],
    "list_jobs": [400],
    "list_job_metrics": [400],
    "list_job_events": [400],
    "list_job_logs": [400],
    "get_utilisation": [400, 404],
    "get_summary": [400],
    "list_teams": [404],
    "set_secret": [400, 403, 409, 413],
    "list_image_rules": [400, 403],
    "add_image_rule": [400, 403, 413],
    "delete_image_rule": [403],
    "delete_secret": [403, 409],
    "list_warm_pools": [403],
    "add_warm_pool": [400, 403],
    "get_warm_pool": [403],
    "change_warm_pool": [400, 403],
    "remove_warm_pool": [403],
}


class Schema(AutoSchema):
    """Adds to each operation the errors it may answer with, and its group."""

    def get_tags(self) -> list[str]:
        first = self.path.removeprefix("/api/v1/").split("/")[0].split(":")[0]
        return [first]

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        """Add the errors to the answers that the view declares."""
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        error = self._get_response_for_code(  # type: ignore[no-untyped-call]  # theirs is untyped
            ErrorSerializer, "default", direction=direction
        )
        return {**bodies, **{str(code): error for code in self._error_codes()}}

    def _error_codes(self) -> list[int]:
        operation = self.get_operation_id()
        codes = set(_ERRORS.get(operation, ()))
        if operation != "get_health":
            codes.add(401)
        if "{" in self.path:
            codes.add(404)
        return sorted(codes)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """Tells the generator what a team token looks like."""

    target_class = "tenancy.authentication.TokenAuthentication"
    name = "teamToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:  # noqa: ARG002 - theirs
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ct_…"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """Describes the session's cookie alike on every installation, whatever its name there."""

    target_class = "rest_framework.authentication.SessionAuthentication"
    name = "cookieAuth"
    priority = 1

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:  # noqa: ARG002 - theirs
        return {"type": "apiKey", "in": "cookie", "name": "concertina_session"}
