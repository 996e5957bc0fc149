"""The service as an ASGI application.

`gunicorn -k control_plane.gunicorn_worker.BoundedWorker --no-control-socket
control_plane.asgi:application` serves it: ordinary views run in a fixed number of threads, streams
on the event loop, so that followers of logs cost no thread. (gunicorn's control socket would be in
one place for all installations of a user.)
"""

from __future__ import annotations

import os
import warnings

import django
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")

# WhiteNoise's files are read whole before they are sent; they are small, and Django says so once.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

django.setup(set_prefix=False)  # first: what stands before it knows models
import_string("control_plane.front.wiring.bound_statements")()
import_string("control_plane.api.operation_check.check_before_serving")()
_handler = import_string("control_plane.web.whole_requests.WholeRequestsHandler")()
application = import_string("control_plane.front.wiring.in_front_of")(_handler)
