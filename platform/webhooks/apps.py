"""Django application."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let jobs name webhooks in their `notify`."""
        from jobs.notification_targets import TARGETS  # noqa: PLC0415
        from webhooks.hooks import names_for  # noqa: PLC0415 - models may be imported only now

        TARGETS.come_from(names_for)
