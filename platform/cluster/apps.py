"""Django application."""

from django.apps import AppConfig


class ClusterConfig(AppConfig):
    name = "cluster"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from cluster.nodes import node_changes  # noqa: PLC0415 - models are not loaded before

        node_changes.connect()
