"""Who may see the administration site? Platform admins alone.

Django's own site lets in anybody of its staff and asks for permissions by kind of row, and a
permission for quotas, say, would be one for those of all teams. Leads manage their team in the
dashboard, where each row is looked at.
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from tenancy.audit.admin_changes import noting


class AdministrationSite(AdminSite):
    """Django's, for superusers."""

    site_header = "Concertina administration"
    site_title = "Concertina"
    index_title = "Teams, quotas and pools"

    def register(
        self, model_or_iterable: Any, admin_class: type[Any] | None = None, **options: Any
    ) -> None:
        """Have every page note for the audit log what it changes."""
        super().register(model_or_iterable, noting(admin_class or ModelAdmin), **options)

    def has_permission(self, request: HttpRequest) -> bool:
        user: User | AnonymousUser = request.user
        return bool(user.is_active and user.is_superuser)
