"""Which images are fetched before any job names them? Those that admins asked for.

The last thing a tick does, because no job waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from cluster.models import Node, PrefetchedImage
from cluster.worker_host import NodeImage, WorkerHostError
from tenancy.image_names import in_full

from autoscaler.control_loop.tick_context import TickContext

_log = logging.getLogger(__name__)


def fetch_images_ahead(context: TickContext) -> None:
    """Tell the host, and write down how far it is. What fails is tried again in the next tick."""
    rows = list(PrefetchedImage.objects.all())
    if not rows:
        return
    wanted = {row.pk: list(_of_nodes(row, context)) for row in rows}
    try:
        notes = context.processes.fetch_ahead(*(one for ones in wanted.values() for one in ones))
    except WorkerHostError as problem:
        _log.warning("No image is fetched: %s", problem, extra={"action": "fetch_ahead"})
        return
    with context.fence.transaction():
        for row in rows:
            notes_by_node = {one.node: notes[one] for one in wanted[row.pk] if one in notes}
            if notes_by_node != row.notes:
                PrefetchedImage.objects.filter(pk=row.pk).update(notes=notes_by_node)


def _of_nodes(row: PrefetchedImage, context: TickContext) -> Iterator[NodeImage]:
    """Return those of each node that takes work; none where jobs are processes."""
    named = in_full(row.image) if row.image else None
    image = context.environments.of_worker("nobody", "nobody", image=named).image
    if image is not None:
        for node in Node.objects.filter(pool=row.pool_id, is_schedulable=True):
            yield NodeImage(node=node.name, image=image)
