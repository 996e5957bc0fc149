"""Django application: connects the control loop to those who ask it for a tick."""

from __future__ import annotations

from django.apps import AppConfig


class ControlLoopConfig(AppConfig):
    name = "autoscaler.control_loop"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Changed demand asks for a tick; the control worker watches the worker host."""
        from autoscaler.control_loop.wakeup import triggers  # noqa: PLC0415 - needs the app registry

        triggers.connect()
