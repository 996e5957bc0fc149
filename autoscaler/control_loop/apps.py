"""Django application."""

from django.apps import AppConfig


class ControlLoopConfig(AppConfig):
    name = "autoscaler.control_loop"
    default_auto_field = "django.db.models.BigAutoField"
