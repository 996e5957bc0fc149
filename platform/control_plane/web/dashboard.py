"""How does the dashboard reach the browser? Its files by WhiteNoise, its page for every address.

The dashboard is one page whose addresses are made in the browser, so each address that is
nobody else's answers with that page.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

_NOT_BUILT: Final = """<!doctype html><html lang="en"><title>Concertina</title>
<body style="font: 16px/1.6 system-ui; margin: 4rem auto; max-width: 36rem">
<h1>Concertina runs</h1><p>The dashboard is not built on this machine. <code>./dev up</code> builds
it. Meanwhile the <a href="/api/v1/docs">API</a> and the <a href="/admin/">administration</a>
work.</p></body></html>"""


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Return the dashboard's page, never cached, because it names the newest build's files."""
    page = settings.DASHBOARD_DIR / "index.html"
    content = page.read_bytes() if page.is_file() else _NOT_BUILT.encode()
    return HttpResponse(content, headers={"Cache-Control": "no-cache"})
