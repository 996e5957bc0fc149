"""Which address leads where?"""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path, re_path
from tenancy.sign_in import ThrottledLoginForm

from control_plane.api.monitoring.endpoint import ScrapeView
from control_plane.api.people import provider_sign_in, proxy_sign_in
from control_plane.web.answers.error_responses import unknown_address
from control_plane.web.dashboard import dashboard
from jobs.api.sync import sync

handler400 = "control_plane.web.answers.error_responses.bad_request"
handler500 = "control_plane.web.answers.error_responses.server_error"

admin.site.login_form = ThrottledLoginForm

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include("control_plane.api.urls")),
    path("sign-in/provider", provider_sign_in.begin),
    path("sign-in/provider/callback", provider_sign_in.finish),
    path("sign-in/proxy", proxy_sign_in.finish),
    path("metrics", ScrapeView.as_view()),
    path("internal/v1/jobs/<job:job_id>/sync", sync),
    re_path(r"^(?:api|internal|sign-in)(?:/|$)", unknown_address),
    re_path(r"^(?!admin|static/)", dashboard),
]
