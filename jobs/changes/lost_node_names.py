"""What do workers know about a node that was deleted? They keep its name."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db.models.signals import pre_delete

from jobs.models import Worker


def connect() -> None:
    """Begin to listen; called once, when Django is ready."""
    pre_delete.connect(_keep_name, sender=apps.get_model("cluster", "Node"))


def _keep_name(*, instance: Any, **_: Any) -> None:
    """Write the name in the transaction of the deletion, before workers lose the node."""
    Worker.objects.filter(node=instance).update(node_name=instance.name)
