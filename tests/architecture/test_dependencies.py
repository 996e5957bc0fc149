"""What never gets into the service? Who may import whom is for `lint-imports`, a linter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tools.images.contents.tree import Tree
from tools.images.recipes.service import SERVICE

ROOT = Path(__file__).parents[2]

LOAD_THE_SERVICE = """
import sys
import control_plane.asgi
import control_plane.celery
control_plane.celery.celery_app.loader.import_default_modules()
import control_plane.urls
for name, module in list(sys.modules.items()):
    print(name, getattr(module, "__file__", None) or "")
"""


def test_the_service_loads_what_its_image_holds_and_neither_pytorch_nor_scipy() -> None:
    ran = subprocess.run(
        (sys.executable, "-c", LOAD_THE_SERVICE), capture_output=True, text=True, check=True
    )
    loaded = dict(line.split(" ", 1) for line in ran.stdout.splitlines())
    assert {"torch", "sklearn", "matplotlib", "docker", "scipy"}.isdisjoint(loaded)
    runtime = {file for name, file in loaded.items() if name.startswith("concertina_worker")}
    tree = Tree()
    SERVICE.fill(tree)
    assert [
        file for file in runtime if f"app/{Path(file).relative_to(ROOT)}" not in tree.entries
    ] == []


def test_the_coordinator_and_the_protocol_need_the_standard_library_only() -> None:
    script = "import concertina_worker.coordinator, concertina_worker.protocol"
    source = ROOT / "worker_image"
    subprocess.run((sys.executable, "-S", "-c", script), cwd=source, check=True)


@pytest.mark.django_db
def test_the_migrations_say_what_the_models_say() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
