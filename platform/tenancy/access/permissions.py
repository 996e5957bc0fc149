"""What may each role do? This is the only table of it: checks, a page of docs and tests read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from tenancy.models.team import Membership
from tenancy.models.token import TokenScope


class Permission(StrEnum):
    """Something that may be done in a team; the last is about the whole installation."""

    SEE = "see"
    SUBMIT = "submit"
    CHANGE_OWN_JOBS = "change_own_jobs"
    CHANGE_ALL_JOBS = "change_all_jobs"
    ENTER_OWN_JOBS = "enter_own_jobs"
    ENTER_ALL_JOBS = "enter_all_jobs"
    NAME_MODELS = "name_models"
    SET_UP = "set_up"
    MANAGE_SOURCES = "manage_sources"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_TOKENS = "manage_tokens"
    SEE_AUDIT = "see_audit"
    MANAGE_WEBHOOKS = "manage_webhooks"
    DIVIDE_QUOTAS = "divide_quotas"
    SIMULATE = "simulate"
    ADMINISTER = "administer"


VIEWER: Final = Membership.Role.VIEWER.value
MEMBER: Final = Membership.Role.MEMBER.value
LEAD: Final = Membership.Role.LEAD.value
TOKEN: Final = "token"  # noqa: S105 - the column of team tokens, and no key
ADMIN: Final = "admin"
COLUMNS: Final = (VIEWER, MEMBER, LEAD, TOKEN, ADMIN)
ROLES: Final = (VIEWER, MEMBER, LEAD)  # that a team gives to people, the least first


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """What a permission lets its holder do, and who holds it."""

    meaning: str
    held_by: tuple[str, ...]


TABLE: Final[Mapping[Permission, PermissionRow]] = {
    Permission.SEE: PermissionRow(
        "see the team's jobs with their logs, curves, outputs, checkpoints and code, and the names"
        " of its models, secrets and sources of data",
        (VIEWER, MEMBER, LEAD, TOKEN, ADMIN),
    ),
    Permission.SUBMIT: PermissionRow(
        "submit jobs, run a job again, upload code, have jobs submitted by schedules",
        (MEMBER, LEAD, TOKEN, ADMIN),
    ),
    Permission.CHANGE_OWN_JOBS: PermissionRow(
        "change, pause, resume, cancel, pin and delete jobs that one has submitted oneself, and"
        " delete what they wrote; do so with schedules that submit for oneself",
        (MEMBER, LEAD, ADMIN),
    ),
    Permission.CHANGE_ALL_JOBS: PermissionRow(
        "do the same with every job and every schedule of the team", (LEAD, TOKEN, ADMIN)
    ),
    Permission.ENTER_OWN_JOBS: PermissionRow(
        "where shells are on: run commands beside the workers of jobs that one has submitted"
        " oneself",
        (MEMBER, LEAD, ADMIN),
    ),
    Permission.ENTER_ALL_JOBS: PermissionRow(
        "do so beside the workers of every job of the team", (LEAD, ADMIN)
    ),
    Permission.NAME_MODELS: PermissionRow(
        "give checkpoints names as models, move aliases, delete models that nobody uses",
        (MEMBER, LEAD, TOKEN, ADMIN),
    ),
    Permission.SET_UP: PermissionRow(
        "set secrets, upload data, keep templates of job specs, say for how long jobs are kept",
        (LEAD, TOKEN, ADMIN),
    ),
    Permission.MANAGE_SOURCES: PermissionRow(
        "add, change and delete object stores and outputs of jobs as sources of data",
        (LEAD, ADMIN),
    ),
    Permission.MANAGE_MEMBERS: PermissionRow(
        "say who is in the team and in which role, whether its members change each other's jobs,"
        " how many jobs each of them may have run and wait, and what the specs of its jobs may say",
        (LEAD, ADMIN),
    ),
    Permission.MANAGE_TOKENS: PermissionRow(
        "see the team's tokens, make, rotate and revoke them", (LEAD, ADMIN)
    ),
    Permission.SEE_AUDIT: PermissionRow(
        "see in the audit log who changed what of the team, and who was refused", (LEAD, ADMIN)
    ),
    Permission.MANAGE_WEBHOOKS: PermissionRow(
        "see who is told of what happens to the team's jobs, add, change, try and delete webhooks",
        (LEAD, ADMIN),
    ),
    Permission.DIVIDE_QUOTAS: PermissionRow(
        "set the quotas of the teams below this one, within its own guarantee, how many jobs they"
        " run and how many GPU-hours they have in a month; preview other quotas on the recent past",
        (LEAD, ADMIN),
    ),
    Permission.SIMULATE: PermissionRow("ask for simulations", (LEAD, ADMIN)),
    Permission.ADMINISTER: PermissionRow(
        "everything else: teams, quotas, pools, nodes, images, folders of data", (ADMIN,)
    ),
}


SCOPES: Final[Mapping[str, frozenset[Permission]]] = {
    TokenScope.READ: frozenset({Permission.SEE}),
    TokenScope.SUBMIT: frozenset({Permission.SEE, Permission.SUBMIT}),
    TokenScope.MANAGE_JOBS: frozenset(
        {
            Permission.SEE,
            Permission.CHANGE_OWN_JOBS,
            Permission.CHANGE_ALL_JOBS,
            Permission.ENTER_OWN_JOBS,
            Permission.ENTER_ALL_JOBS,
            Permission.NAME_MODELS,
        }
    ),
    TokenScope.MANAGE_TEAM: frozenset(
        {
            Permission.SEE,
            Permission.SET_UP,
            Permission.MANAGE_SOURCES,
            Permission.MANAGE_MEMBERS,
            Permission.MANAGE_TOKENS,
            Permission.SEE_AUDIT,
            Permission.MANAGE_WEBHOOKS,
            Permission.DIVIDE_QUOTAS,
            Permission.SIMULATE,
        }
    ),
    TokenScope.ADMIN: frozenset(Permission),
}
"""What a key with a scope lets through of what its team's tokens, or its person, may do."""


@cache
def permissions_of(role: str) -> frozenset[Permission]:
    """Return what a role holds; one that this release does not know holds nothing."""
    return frozenset(one for one, row in TABLE.items() if role in row.held_by)


def permissions_of_token(scopes: Iterable[str] | None) -> frozenset[Permission]:
    """Return what a token with these scopes holds, None: all; unknown ones hold nothing."""
    held = permissions_of(TOKEN)
    return held if scopes is None else held & within(scopes)


def within(scopes: Iterable[str]) -> frozenset[Permission]:
    """Return what scopes let through; unknown ones let nothing through."""
    return frozenset[Permission]().union(*(SCOPES.get(one, ()) for one in scopes))
