"""What never gets into the service? Who may import whom is for `lint-imports`, a linter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).parents[2]

LOAD_THE_SERVICE = """
import sys
import control_plane.asgi
import control_plane.celery
control_plane.celery.celery_app.loader.import_default_modules()
import control_plane.urls
unwanted = {"torch", "sklearn", "matplotlib", "docker", "scipy"} & set(sys.modules)
print(",".join(sorted(unwanted)))
"""


def test_the_service_never_loads_pytorch_and_only_planning_loads_scipy() -> None:
    loaded = subprocess.run(
        (sys.executable, "-c", LOAD_THE_SERVICE), capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == ""


def test_the_coordinator_and_the_protocol_need_the_standard_library_only() -> None:
    script = "import concertina_worker.coordinator, concertina_worker.protocol"
    source = ROOT / "worker_image"
    subprocess.run((sys.executable, "-S", "-c", script), cwd=source, check=True)


@pytest.mark.django_db
def test_the_migrations_say_what_the_models_say() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
