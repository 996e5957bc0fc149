"""What do groups give to those who are vouched for? Variables of one beginning say it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import timedelta
from typing import Any, Final

from cluster.variables import BadEnvironment, EnvironmentVariables
from tenancy.single_sign_on.terms import EVERYBODY, GROUPS, ROLES, GroupRole, GroupTerms

_DOMAIN: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_TEAM: Final = re.compile(r"[-a-zA-Z0-9_]{1,40}")
_HOW_GROUPS: Final = (
    "Use GROUP=TEAM:ROLE with commas between, such as ml=vision:member,ml-leads=vision:lead, or"
    ' JSON: {"cn=ml,ou=groups": ["vision:member"]}. Roles are viewer, member and lead.'
)


def read_terms(variables: EnvironmentVariables, prefix: str) -> GroupTerms:
    """Raises: BadEnvironment, if nobody could be let in."""
    roles = _roles(prefix, variables.text(f"{prefix}GROUPS", default=""))
    admin_group = variables.text(f"{prefix}ADMIN_GROUP", default="")
    admits = variables.text(f"{prefix}ADMITS", default=GROUPS)
    domains: frozenset[str] = frozenset()
    if admits not in {GROUPS, EVERYBODY}:
        domains = frozenset(one.strip().lower() for one in admits.split(",") if one.strip())
        if not domains or not all(_DOMAIN.fullmatch(one) for one in domains):
            raise BadEnvironment(
                f"{prefix}ADMITS={admits!r}: use {GROUPS} (who is in a group of {prefix}GROUPS),"
                f" {EVERYBODY}, or domains of mail addresses with commas between."
            )
    if admits == GROUPS and not roles and not admin_group:
        raise BadEnvironment(
            f"{prefix}GROUPS is not set, so nobody could sign in. {_HOW_GROUPS} Or let in"
            f" everybody who is vouched for: {prefix}ADMITS={EVERYBODY}."
        )
    days = variables.whole(f"{prefix}CONFIRMED_DAYS", default=30, at_least=0, at_most=3650)
    hours = variables.whole(f"{prefix}SESSION_HOURS", default=12, at_least=1, at_most=24 * 90)
    return GroupTerms(
        roles=roles,
        admin_group=admin_group,
        admits="" if domains else admits,
        mail_domains=domains,
        session_lasts=timedelta(hours=hours),
        confirmed_for=timedelta(days=days) if days else None,
    )


def _roles(prefix: str, text: str) -> dict[str, tuple[GroupRole, ...]]:
    """Raises: BadEnvironment, which names the part that does not fit."""
    found: defaultdict[str, list[GroupRole]] = defaultdict(list)
    for group, wanted in _pairs(prefix, text):
        team, _, role = wanted.partition(":")
        if not group or role not in ROLES or not _TEAM.fullmatch(team):
            raise BadEnvironment(
                f"{prefix}GROUPS: {group + '=' + wanted!r} does not fit. {_HOW_GROUPS}"
            )
        found[group].append(GroupRole(team=team, role=role))
    return {group: tuple(given) for group, given in found.items()}


def _pairs(prefix: str, text: str) -> list[tuple[str, str]]:
    if not text.lstrip().startswith("{"):
        parts = (one.strip() for one in re.split(r"[,\n]", text))
        return [
            (one.rpartition("=")[0].strip(), one.rpartition("=")[2].strip()) for one in parts if one
        ]
    try:
        told: Any = json.loads(text)
    except ValueError as problem:
        raise BadEnvironment(f"{prefix}GROUPS is no JSON: {problem}. {_HOW_GROUPS}") from None
    return [
        (group, one if isinstance(one, str) else "")
        for group, given in told.items()
        for one in (given if isinstance(given, list) else [given])
    ]
