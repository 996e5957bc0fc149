"""Which background tasks run when, and on which queue?

`control` has one worker process and carries nothing but ticks; `io` carries the rest. Tasks keep
no result and may be lost or repeated: each looks at the database for what is to be done.
"""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")

celery_app = Celery("concertina")
celery_app.config_from_object("django.conf:settings", namespace="CELERY")
celery_app.autodiscover_tasks()
