"""Does whatever changes something get into the audit log, and nothing else, and no secret?"""

from __future__ import annotations

import copy
import json
from typing import Final

import pytest
from control_plane.api.audit.operations import READS, asked_by
from control_plane.api.operation_permissions import OPERATIONS
from django.db import transaction
from django.test import RequestFactory
from django.urls import resolve
from tenancy.models import AuditEntry, AuditOutcome

from tests.service.test_access_matrix import operations
from tests.service.world import BODIES, CANARY, HEADERS, PASSWORD, World, client, people, world

__all__ = ("people", "world")  # fixtures

CHANGING: Final = {
    name: (method, path)
    for name, (method, path) in operations().items()
    if method != "get" and name in OPERATIONS and name not in READS
}
NOT_FOUND_HERE: Final = {  # what the world has no files for, and what is no question of an admin's
    *("delete_job_checkpoint", "delete_job_output", "add_model_version", "upload_code"),
    *("upload_data", "cancel_simulation", "resume_job", "delete_model", "delete_model_version"),
    *("set_data_source", "rerun_job", "cancel_quota_preview", "cancel_quota_price"),
    *("delete_team", "delete_pool", "delete_node", "open_shell"),
}
WITHOUT_VALUES: Final = {
    "log_in",
    "log_out",
    "change_password",
    "uncordon_node",
}  # the node is as it was
BY_SOMEBODY_NEW: Final = {"join_by_invitation"}


def test_what_is_not_sent_to_be_read_counts_as_a_change(world: World) -> None:
    """The description of the API is the list; an operation that it does not know is no address."""
    found = {}
    for name, (method, path) in operations().items():
        if name not in OPERATIONS:
            continue
        request = getattr(RequestFactory(), method)(world.address(path, operation=name))
        request.resolver_match = resolve(request.path)
        asked = asked_by(request)
        assert asked is not None, name
        assert asked.name == name
        found[name] = asked.changes
    assert {name for name, changes in found.items() if changes} == CHANGING.keys()
    assert found.keys() == OPERATIONS.keys()


def test_each_change_is_one_entry_with_what_became_of_it_and_no_secret(world: World) -> None:
    wrong, told, bodies = {}, "", {**BODIES, "change_job": {"priority": 60}}
    admin, known = client("admin", world), {row.pk for row in AuditEntry.objects.all()}
    for name, (method, path) in CHANGING.items():
        with transaction.atomic():
            ask = getattr(copy.deepcopy(admin), method)
            address = world.address(path, operation=name)
            answer = ask(address, bodies.get(name), format="json", **HEADERS.get(name, {}))
            rows = list(AuditEntry.objects.exclude(pk__in=known))
            transaction.set_rollback(True)
        is_done = answer.status_code < 400
        if is_done == (name in NOT_FOUND_HERE):
            wrong[name] = answer.content
        if [(row.outcome == AuditOutcome.DONE, row.answer) for row in rows] != [
            (is_done, answer.status_code)
        ]:
            wrong[name] = [(row.outcome, row.answer) for row in rows]
        if is_done and name not in WITHOUT_VALUES:
            by = "new" if name in BY_SOMEBODY_NEW else "root"
            assert rows[0].sender == by, name
            assert rows[0].before is not None or rows[0].after is not None, name
        if name != "remove_prefetched_image":  # whose image has this very name
            told += json.dumps([[row.before, row.after, row.sender] for row in rows])
    assert wrong == {}
    assert PASSWORD not in told
    assert f'"{CANARY}"' not in told  # the values of a secret, of an environment, of a label


@pytest.mark.parametrize("sender", ["foreign", "viewer", "revoked"])
def test_who_may_not_is_told_of_once(world: World, sender: str) -> None:
    method, path = CHANGING["change_quota"]
    ask = getattr(client(sender, world), method)
    for _ in range(2):
        answer = ask(world.address(path, operation=""), BODIES["change_quota"], format="json")
    row = AuditEntry.objects.get(operation="change_quota")
    assert (row.outcome, row.answer) == (AuditOutcome.REFUSED, answer.status_code)
    assert row.after is None
