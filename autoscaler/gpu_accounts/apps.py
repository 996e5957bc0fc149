"""Django application: accounts of GPU time."""

from __future__ import annotations

from django.apps import AppConfig


class GpuAccountsConfig(AppConfig):
    name = "autoscaler.gpu_accounts"
    label = "gpu_accounts"
    default_auto_field = "django.db.models.BigAutoField"
