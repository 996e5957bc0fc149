"""Who may see the administration site? Platform admins alone.

Django's own site lets in anybody of its staff and asks for permissions by kind of row, and a
permission for quotas, say, would be one for those of all teams. Leads manage their team in the
dashboard, where each row is looked at.
"""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest


class AdministrationSite(AdminSite):
    """Django's, for superusers."""

    site_header = "Concertina administration"
    site_title = "Concertina"
    index_title = "Teams, quotas and pools"

    def has_permission(self, request: HttpRequest) -> bool:
        user: User | AnonymousUser = request.user
        return bool(user.is_active and user.is_superuser)
