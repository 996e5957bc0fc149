"""What happened to nodes lately? Written down whenever one is saved or deleted, by whomever."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models.signals import post_delete, post_save, pre_save

from cluster.models import Node, NodeChange

Kind = NodeChange.Kind


def connect() -> None:
    """Write every change of a node down from now on, in the transaction that makes it."""
    pre_save.connect(_remember, sender=Node)
    post_save.connect(_note_saved, sender=Node)
    post_delete.connect(_note_deleted, sender=Node)


def since(moment: datetime) -> Iterable[NodeChange]:
    """Return the changes since then, in order."""
    return NodeChange.objects.filter(at__gt=moment).order_by("id")


def note(kind: Kind, node: Node) -> None:
    """Write it down, in the transaction that makes it so."""
    NodeChange.objects.create(kind=kind, pool=node.pool.name, node=node.name)


def _remember(instance: Node, **_: Any) -> None:
    """Remember how the node is before it is saved, for `_note_saved`."""
    instance._before = Node.objects.filter(pk=instance.pk).first()  # type: ignore[attr-defined]  # noqa: SLF001


def _note_saved(instance: Node, **_: Any) -> None:
    before: Node | None = instance._before  # type: ignore[attr-defined]  # noqa: SLF001
    if before is None:
        note(Kind.JOINED, instance)
    elif _service(before) != _service(instance):
        note(_service(instance), instance)


def _note_deleted(instance: Node, **_: Any) -> None:
    note(Kind.LOST, instance)


def _service(node: Node) -> Kind:
    if node.is_draining:
        return Kind.DRAINING
    return Kind.UNCORDONED if node.is_schedulable else Kind.CORDONED
