"""How is a node taken out of service, and put back? Desired state; the control loop does it."""

from __future__ import annotations

from enum import StrEnum

from django.db import transaction
from tenancy.audit import records

from cluster.models import Node


class Maintenance(StrEnum):
    """What an admin may ask of a node."""

    CORDON = "cordon"  # nothing new is placed there; who is there may stay
    DRAIN = "drain"  # besides, running jobs move to other nodes, or pause where none has room
    UNCORDON = "uncordon"  # all as before


def maintain(name: str, what: Maintenance) -> Node:
    """Ask it of the node; asking twice changes nothing.

    Raises:
        Node.DoesNotExist: there is no such node.
    """
    is_schedulable, is_draining = what is Maintenance.UNCORDON, what is Maintenance.DRAIN
    with transaction.atomic():
        node = Node.objects.select_for_update().select_related("pool").get(name=name)
        is_other = (node.is_schedulable, node.is_draining) != (is_schedulable, is_draining)
        if is_other or node.leaving_because:
            wanted = {"is_schedulable": is_schedulable, "is_draining": is_draining}
            before = {one: getattr(node, one) for one in wanted}
            records.note_change(before=before, after=wanted, row=name)
            node.is_schedulable, node.is_draining = is_schedulable, is_draining
            node.leaving_because = ""  # from now on it is as an admin says
            node.giving_back_since, node.is_released, node.is_unfit = None, False, False
            node.save(
                update_fields=[
                    *("is_schedulable", "is_draining", "leaving_because"),
                    *("giving_back_since", "is_released", "is_unfit"),
                ]
            )
    return node
