"""Who may do what? Every operation of the API as every kind of sender, as `access_matrix.txt` says.

And whoever a team's things are none of is told nothing of them, in no answer.
"""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from control_plane.api.operation_permissions import OPERATIONS
from django.db import transaction
from tenancy.access.permissions import COLUMNS, TABLE, Permission

from tests.service.results.test_outputs import content
from tests.service.world import BODIES, CANARY, HEADERS, World, client, people, world

__all__ = ("people", "world")  # fixtures

HERE: Final = Path(__file__).parent
DESCRIPTION: Final = HERE.parents[1] / "docs" / "openapi.yaml"
REFUSALS: Final = {"403", "404"}
NARROWER: Final = {  # than the permission: what is asked about here is not theirs
    **dict.fromkeys(COLUMNS, frozenset[str]()),
    "lead": {  # no team is above; folders
        *("change_quota", "request_quota_preview", "set_data_source", "delete_data_source"),
    },
}
NONE_OF_THEIRS: Final = {"anonymous", "foreign", "job", "revoked", "teamless"}

Operations = dict[str, tuple[str, str]]


@functools.cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(DESCRIPTION.read_text(), Loader=yaml.CSafeLoader)
    return found


@functools.cache
def operations() -> Operations:
    """Method and address of each operation, by its name."""
    found = {
        operation["operationId"]: (method, path)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }
    return found | {
        "get_docs": ("get", "/api/v1/docs"),
        "sync_job": ("post", "/internal/v1/jobs/{job_id}/sync"),
        "get_admin_site": ("get", "/admin/"),
        "get_metrics": ("get", "/metrics"),
    }


def matrix() -> dict[str, dict[str, str]]:
    """What each sender is answered to each operation, by sender."""
    lines = (HERE / "access_matrix.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    (_, *senders), *cells = rows
    return {
        sender: {name: row[column] for name, *row in cells} for column, sender in enumerate(senders)
    }


MATRIX: Final = matrix()


def test_every_operation_has_a_row() -> None:
    assert set(MATRIX["anonymous"]) == set(operations())


def test_every_refusal_is_described() -> None:
    described = {
        operation["operationId"]: {*operation["responses"]}
        for methods in document()["paths"].values()
        for operation in methods.values()
    }
    wrong = {
        (name, cell)
        for cells in MATRIX.values()
        for name, cell in cells.items()
        if cell.isdecimal() and cell not in described.get(name, {cell})
    }
    assert wrong == set()


@pytest.mark.parametrize("sender", COLUMNS)
def test_the_matrix_says_what_the_table_of_permissions_does(sender: str) -> None:
    """Who has the permission is answered as an admin is, and who has not is refused."""
    wrong = {
        name: (needed, cell)
        for name, needed in OPERATIONS.items()
        if isinstance(needed, Permission) and name not in NARROWER[sender]
        for cell in [MATRIX[sender][name]]
        if (cell == MATRIX["admin"][name]) != (sender in TABLE[needed].held_by)
        if not (cell == "404" and sender not in TABLE[needed].held_by)
    }
    assert wrong == {}
    assert {MATRIX[sender][name] for name in NARROWER[sender]} <= REFUSALS


@pytest.mark.parametrize("sender", MATRIX)
def test_a_sender_may_do_what_the_matrix_says(sender: str, world: World) -> None:
    found, told = {}, []
    known = client(sender, world)
    for name, (method, path) in operations().items():
        with transaction.atomic():
            ask = getattr(copy.deepcopy(known), method)
            address, more = world.address(path, operation=name), HEADERS.get(name, {})
            answer = ask(address, BODIES.get(name), format="json", **more)
            transaction.set_rollback(True)
        sent = content(answer) if answer.streaming else answer.content
        said = f"{answer.headers if answer.streaming else ''} {sent.decode(errors='replace')}"
        if name not in {"submit_job", "validate_job"} and CANARY in said:
            told.append(name)
        found[name] = "ok" if answer.status_code < 300 else str(answer.status_code)
    assert found == MATRIX[sender]
    if sender in NONE_OF_THEIRS:
        assert told == []
    else:
        assert "get_job" in told
