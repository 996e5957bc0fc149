"""Which applications of Django are ours?"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin import apps as django_admin
from django.core.checks import CheckMessage, register
from tracing import sending


@register("permissions")
def check_permissions(**_: Any) -> Sequence[CheckMessage]:
    """Find operations of which nobody says who may do them, when Django checks the system."""
    found: Sequence[CheckMessage] = import_module("control_plane.api.operation_check").problems()
    return found


class ControlPlaneConfig(AppConfig):
    name = "control_plane"

    def ready(self) -> None:
        """Make our Celery application the current one, so that every process can send tasks."""
        import_module("control_plane.celery")
        import_module("control_plane.process_priority").connect()
        import_module("tenancy.audit.signing").connect()
        import_module("control_plane.supply_signals").announce_changes()
        import_module("control_plane.front.coordinators.publishing").connect()
        if settings.CONCERTINA.sends_traces:
            sending.switch_on(lambda: import_module("tracing.otlp").OtlpSender())


class AdministrationConfig(django_admin.AdminConfig):
    """Django's administration, on a site of our own."""

    default = False  # of this package
    default_site = "tenancy.access.administration.AdministrationSite"
