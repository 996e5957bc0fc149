"""The service as an ASGI application.

`gunicorn -k asgi control_plane.asgi:application` serves it: gunicorn's own ASGI worker runs
ordinary views in threads and streams on its event loop, so that followers of logs cost no thread.
"""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")

application = get_asgi_application()
