"""Which background tasks run when, and on which queue?

`control` has one worker process and carries nothing but ticks; `io` carries the rest. Tasks keep
no result and may be lost or repeated: each looks at the database for what is to be done.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")

celery_app = Celery("concertina")
celery_app.config_from_object("django.conf:settings", namespace="CELERY")
celery_app.autodiscover_tasks()


@heartbeat_sent.connect
def show_life(**_: Any) -> None:
    """Every two seconds while the worker is connected to Redis; `probe` looks at the file's age."""
    if settings.CONCERTINA.heartbeat_file is not None:
        settings.CONCERTINA.heartbeat_file.touch()
