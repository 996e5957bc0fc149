"""Which permission does each operation need? If one is missing here, the service does not start.

Where an operation is about a team, or a job of one, the permission is needed in that team.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from tenancy.access.permissions import Permission


class OpenTo(StrEnum):
    """Who may do what needs no permission."""

    EVERYBODY = "everybody"
    KNOWN = "whoever is logged in, and tokens"


_NEEDED: Final[Mapping[OpenTo | Permission, tuple[str, ...]]] = {
    OpenTo.EVERYBODY: (
        *("get_health", "get_sign_in_methods", "log_in", "log_out"),
        *("look_up_invitation", "join_by_invitation"),
        *("start_device_login", "poll_device_login", "redeem_device_login"),
    ),
    OpenTo.KNOWN: (  # each answers with what its sender may see
        *("list_personal_tokens", "add_personal_token", "revoke_personal_token"),
        *("accept_invitation", "change_password"),
        *("look_up_device_login", "confirm_device_login", "refuse_device_login"),
        *("get_session", "list_notices", "follow_reads", "validate_job"),
        *("list_jobs", "list_job_sparklines", "compare_jobs", "list_arrays", "list_sweeps"),
        *("list_simulations", "list_data_sources"),
        *("list_teams", "get_team", "list_quotas", "get_quota", "get_standing"),
        *("list_events", "follow_events", "list_webhooks"),
        *("list_pools", "list_policies", "list_nodes", "list_gpu_use"),
        *("get_utilisation", "get_summary", "list_usage", "list_gpu_prices"),
        *("list_ticks", "get_tick", "list_prices"),
    ),
    Permission.SEE: (
        *("get_job", "explain_job", "get_job_advice", "list_job_dependencies", "list_job_events"),
        *("list_job_generations", "list_job_logs", "list_job_metrics", "get_job_metrics_table"),
        *("get_job_log_file", "list_job_usage", "list_job_workers", "get_array"),
        *("get_sweep", "list_sweep_curves"),
        *("list_job_removals", "list_job_outputs", "get_job_output", "get_job_output_archive"),
        *("list_job_checkpoints", "get_job_checkpoint", "get_job_weights"),
        *("get_job_training_state", "get_job_code", "get_team_storage", "get_team_retention"),
        *("list_models", "get_model_version", "get_model_weights", "list_secrets"),
        *("list_team_images", "list_members", "get_fairness_receipt", "get_month_report"),
        *("list_schedules", "get_schedule", "get_team_rules", "list_templates", "get_template"),
    ),
    Permission.SUBMIT: (
        *("submit_job", "submit_jobs", "rerun_job", "get_code_upload", "upload_code"),
        *("add_schedule", "run_schedule", "submit_sweep"),
    ),
    Permission.CHANGE_ALL_JOBS: (  # or CHANGE_OWN_JOBS, of those
        *("change_job", "cancel_job", "pause_job", "resume_job", "pin_job", "unpin_job"),
        *("delete_job", "delete_job_checkpoint", "delete_job_output"),
        *("cancel_array", "pause_array", "resume_array", "cancel_sweep"),
        *("pause_schedule", "delete_schedule"),
        *("change_schedule", "resume_schedule"),  # and SUBMIT, which alone suffices for one's own
    ),
    Permission.ENTER_ALL_JOBS: (  # or ENTER_OWN_JOBS, of those
        "open_shell",
        "write_to_shell",  # and only of whoever opened it
    ),
    Permission.NAME_MODELS: (
        *("add_model_version", "delete_model", "delete_model_version"),
        *("set_model_alias", "delete_model_alias"),
    ),
    Permission.SET_UP: (
        *("set_secret", "delete_secret", "change_team_retention"),
        *("get_data_upload", "upload_data", "add_template", "change_template", "delete_template"),
    ),
    Permission.MANAGE_SOURCES: ("set_data_source", "delete_data_source"),  # uploads: SET_UP
    Permission.MANAGE_MEMBERS: (
        *("add_member", "change_member", "remove_member", "change_team_rules"),
        *("list_invitations", "invite_member", "revoke_invitation"),
    ),
    Permission.MANAGE_TOKENS: ("list_tokens", "add_token", "rotate_token", "revoke_token"),
    Permission.SEE_AUDIT: ("list_audit_entries",),
    Permission.MANAGE_WEBHOOKS: (
        *("add_webhook", "change_webhook", "delete_webhook", "test_webhook"),
        *("list_webhook_deliveries", "replay_webhook_delivery"),
    ),
    Permission.DIVIDE_QUOTAS: (  # in the team above
        *("change_quota", "request_quota_preview", "get_quota_preview", "cancel_quota_preview"),
        # In the team itself, too.
        *("request_quota_price", "get_quota_price", "cancel_quota_price"),
    ),
    Permission.SIMULATE: (
        *("request_simulation", "get_simulation", "get_simulation_report", "cancel_simulation"),
    ),
    Permission.ADMINISTER: (
        "change_team",  # but for what MANAGE_MEMBERS says of it
        *("list_image_rules", "add_image_rule", "delete_image_rule"),
        *("list_prefetched_images", "add_prefetched_image", "get_prefetched_image"),
        *("remove_prefetched_image", "list_node_jobs"),
        *("cordon_node", "drain_node", "uncordon_node"),
        *("get_setup", "preview_setup", "apply_setup", "add_team", "delete_team", "delete_quota"),
        *("add_pool", "change_pool", "delete_pool", "add_node", "change_node", "delete_node"),
        *("set_gpu_price", "delete_gpu_price", "get_whole_month_report", "list_settings"),
    ),
}
OPERATIONS: Final[Mapping[str, OpenTo | Permission]] = {
    operation: needed for needed, operations in _NEEDED.items() for operation in operations
}

OF_LIMITED_TOKENS: Final = frozenset(
    {
        *_NEEDED[OpenTo.EVERYBODY],
        # About single jobs, each of which is looked for within the bounds of the token.
        *("list_jobs", "list_job_sparklines", "compare_jobs", "get_job", "explain_job"),
        *("get_job_advice", "list_job_dependencies", "list_job_events", "list_job_generations"),
        *("list_job_logs", "list_job_metrics", "get_job_metrics_table", "get_job_log_file"),
        *("list_job_usage", "list_job_workers", "list_job_removals", "list_job_outputs"),
        *("get_job_output", "get_job_output_archive", "list_job_checkpoints", "get_job_checkpoint"),
        *("get_job_weights", "get_job_training_state", "get_job_code"),
        *("submit_job", "submit_jobs", "rerun_job", "validate_job", "get_code_upload"),
        *("upload_code", "change_job", "cancel_job", "pause_job", "resume_job", "pin_job"),
        *("unpin_job", "delete_job", "delete_job_checkpoint", "delete_job_output"),
        *("list_events", "follow_events"),  # with `job` alone
        # About no job: what a spec may say, how teams and pools stand, and the token itself.
        *("list_teams", "get_team", "list_quotas", "get_quota", "get_standing", "list_pools"),
        *("list_policies", "get_utilisation", "get_summary", "list_gpu_prices", "list_prices"),
        *("list_secrets", "list_team_images", "get_team_rules", "list_templates", "get_template"),
        *("list_personal_tokens", "revoke_personal_token", "get_session"),
    }
)
"""What tokens that are limited to pools or labels may ask for; all else is closed to them.

It would tell of other jobs, or change them: events and models of a whole team, arrays, sweeps, and
schedules, whose jobs come later.
"""
