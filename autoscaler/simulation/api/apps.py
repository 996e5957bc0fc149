"""Django application: stored simulations."""

from __future__ import annotations

from django.apps import AppConfig


class SimulationsConfig(AppConfig):
    name = "autoscaler.simulation.api"
    label = "what_if"  # tables and migrations bear it
    default_auto_field = "django.db.models.BigAutoField"
