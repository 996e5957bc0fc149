"""Django application: stored simulations."""

from __future__ import annotations

from django.apps import AppConfig


class WhatIfConfig(AppConfig):
    name = "autoscaler.what_if"
    default_auto_field = "django.db.models.BigAutoField"
