"""The service as an ASGI application.

`gunicorn -k asgi --no-control-socket control_plane.asgi:application` serves it: gunicorn's own ASGI
worker runs ordinary views in threads and streams on its event loop, so that followers of logs cost
no thread. (Its control socket would lie at one place for all installations of a user.)
"""

from __future__ import annotations

import os
import warnings

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")

# WhiteNoise's files are read whole before they are sent; they are small, and Django says so once.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

application = get_asgi_application()
