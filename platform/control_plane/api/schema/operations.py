"""How is the API described? drf-spectacular's generator does it, and is taught our errors."""

from __future__ import annotations

from typing import Any, Final, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from control_plane.api.operation_permissions import OF_LIMITED_TOKENS


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

# Beyond what an operation may answer by its address, method and body: see `_error_codes`.
_ERRORS: Final[dict[str, list[int]]] = {
    "log_in": [429],
    "change_password": [409, 429],
    "list_settings": [403],
    "follow_reads": [429],
    "list_events": [403],
    "follow_events": [403, 429],
    "submit_job": [409, 422],
    "submit_jobs": [409, 422],
    "submit_sweep": [409, 422],
    "pause_array": [409],
    "resume_array": [409],
    "change_job": [409, 412, 422],
    "rerun_job": [409, 422],
    "upload_code": [409, 422],
    "upload_data": [409, 422],
    "get_job_output": [416, 429],
    "get_job_log_file": [416, 429],
    "get_job_output_archive": [429],
    "delete_job_checkpoint": [409],
    "get_job_weights": [416, 429],
    "get_job_training_state": [416, 429],
    "cancel_job": [409],
    "delete_job": [409],
    "pause_job": [409],
    "resume_job": [409],
    "get_utilisation": [404],
    "list_teams": [404],
    "add_model_version": [409],
    "delete_model": [409],
    "delete_model_version": [409],
    "get_model_weights": [409, 416, 429],
    "set_model_alias": [409],
    "add_member": [409],
    "change_member": [409],
    "remove_member": [409],
    "list_invitations": [403],
    "invite_member": [409],
    "look_up_invitation": [404, 429],
    "accept_invitation": [404, 409, 429],
    "join_by_invitation": [403, 404, 409, 429],
    "list_audit_entries": [403, 404],
    "get_code_upload": [403],
    "get_data_upload": [403],
    "list_node_jobs": [403],
    "list_tokens": [403],
    "add_token": [409],
    "list_personal_tokens": [403],
    "add_personal_token": [409],
    "start_device_login": [429],
    "poll_device_login": [409, 429],
    "redeem_device_login": [409],
    "look_up_device_login": [404, 429],
    "confirm_device_login": [404, 409, 429],
    "refuse_device_login": [404, 429],
    "rotate_token": [409],
    "set_secret": [409],
    "delete_secret": [409],
    "change_quota": [409],
    "set_data_source": [409],
    "delete_data_source": [409],
    "list_image_rules": [403],
    "add_image_rule": [409],
    "list_prefetched_images": [403],
    "get_prefetched_image": [403],
    "add_prefetched_image": [409],
    "get_setup": [403],
    "preview_setup": [409],
    "apply_setup": [409, 412],
    "add_team": [409],
    "delete_team": [409],
    "delete_quota": [409],
    "add_pool": [409],
    "change_pool": [409],
    "delete_pool": [409],
    "add_node": [409],
    "change_node": [409],
    "delete_node": [409],
    "change_team": [409],
    "request_simulation": [422, 429],
    "request_quota_preview": [422, 429],
    "cancel_quota_preview": [409],
    "request_quota_price": [422, 429],
    "cancel_quota_price": [409],
    "add_webhook": [404, 409],
    "test_webhook": [409],
    "list_webhook_deliveries": [403],
    "replay_webhook_delivery": [409],
    "cancel_simulation": [409],
    "get_whole_month_report": [403],
    "set_gpu_price": [409],
    "delete_gpu_price": [409],
    "change_team_rules": [412, 422],
    "add_template": [409, 422],
    "change_template": [412, 422],
    "add_schedule": [409, 422],
    "change_schedule": [412, 422],
    "run_schedule": [409, 422, 429],
    "open_shell": [409, 429],
    "write_to_shell": [409, 429],
}
_OPEN: Final = {"get_health"}  # asked by monitoring, without a word to be wrong


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
        if operation not in _OPEN:
            codes |= {400, 401}
        if "{" in self.path:
            codes.add(404)
        if self.method != "GET" or operation not in OF_LIMITED_TOKENS:
            codes.add(403)  # not for the sender, or a browser's request that is not from our page
        if self._get_request_body():  # type: ignore[no-untyped-call]  # theirs is untyped
            codes |= {413, 415}
        return sorted(codes)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """Tells the generator what a team token looks like."""

    target_class = "tenancy.access.authentication.TokenAuthentication"
    name = "teamToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:  # noqa: ARG002 - theirs
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ct_…"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped base
    """Tells the generator the name of the session's cookie, which is each installation's own."""

    target_class = "rest_framework.authentication.SessionAuthentication"
    name = "cookieAuth"
    priority = 1

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:  # noqa: ARG002 - theirs
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
