"""Django application."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Workers keep the name of a node that is deleted."""
        from jobs.changes import lost_node_names  # noqa: PLC0415 - needs the app registry

        lost_node_names.connect()
