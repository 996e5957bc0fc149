"""Which OpenID provider vouches for people? This is what the environment says about it."""

from __future__ import annotations

import ipaddress
import json
import re
from collections import defaultdict
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from cluster.variables import BadEnvironment, EnvironmentVariables
from tenancy.single_sign_on.terms import (
    EVERYBODY,
    GROUPS,
    ROLES,
    GroupRole,
    GroupTerms,
    ProviderTerms,
)

CALLBACK: Final = "/sign-in/provider/callback"
_OF: Final = "CONCERTINA_OIDC_"
_DOMAIN: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_TEAM: Final = re.compile(r"[-a-zA-Z0-9_]{1,40}")
_LONGEST_ISSUER: Final = 500  # as the column has it
_HOW_GROUPS: Final = (
    "Use GROUP=TEAM:ROLE with commas between, such as ml=vision:member,ml-leads=vision:lead, or"
    ' JSON: {"cn=ml,ou=groups": ["vision:member"]}. Roles are viewer, member and lead.'
)


def read(variables: EnvironmentVariables, *, service_url: str) -> ProviderTerms | None:
    """Return the provider, if there is one. Raises: BadEnvironment."""
    issuer = variables.text(f"{_OF}ISSUER", default="")
    if not issuer:
        _check_nothing_else_is_set(variables)
        return None
    host = _host_of(issuer)
    scopes = variables.text(f"{_OF}SCOPES", default="openid profile email")
    if "openid" not in scopes.split():
        raise BadEnvironment(f"{_OF}SCOPES={scopes!r}: openid has to be one of them.")
    client_id = variables.text(f"{_OF}CLIENT_ID", default="")
    if not client_id:
        raise BadEnvironment(
            f"{_OF}CLIENT_ID is not set. Register this installation at {issuer}, with"
            f" {service_url.rstrip('/')}{CALLBACK} as the address to send people back to."
        )
    name = variables.text(f"{_OF}NAME", default=host)
    if len(name) > 60 or not name.isprintable():  # noqa: PLR2004 - what a button holds
        raise BadEnvironment(f"{_OF}NAME={name!r}: use up to 60 characters, which a button shows.")
    return ProviderTerms(
        issuer=issuer,
        client_id=client_id,
        client_secret=variables.secret(f"{_OF}CLIENT_SECRET"),
        name=name,
        redirect_uri=f"{service_url.rstrip('/')}{CALLBACK}",
        scopes=" ".join(scopes.split()),
        groups_claim=variables.text(f"{_OF}GROUPS_CLAIM", default="groups"),
        groups=_group_terms(variables),
    )


def _check_nothing_else_is_set(variables: EnvironmentVariables) -> None:
    for name in ("CLIENT_ID", "CLIENT_SECRET", "CLIENT_SECRET_FILE", "GROUPS", "ADMIN_GROUP"):
        if variables.text(f"{_OF}{name}", default=""):
            raise BadEnvironment(
                f"{_OF}{name} is set, and {_OF}ISSUER is not. Set the provider's address, such as"
                " https://login.example.com/realms/lab, or neither."
            )


def _host_of(issuer: str) -> str:
    """Raises: BadEnvironment, if it is no address that is encrypted, or of this very machine."""
    try:
        parts = urlsplit(issuer)
        host, has_more = parts.hostname or "", parts.query or parts.fragment or parts.username
        _ = parts.port
    except ValueError:
        host, has_more, parts = "", "", urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))
    if not host or has_more or not is_safe or len(issuer) > _LONGEST_ISSUER:
        raise BadEnvironment(
            f"{_OF}ISSUER={issuer!r}: use the provider's https:// address, exactly as the field"
            " `issuer` of its /.well-known/openid-configuration says."
        )
    return host


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _group_terms(variables: EnvironmentVariables) -> GroupTerms:
    """Raises: BadEnvironment, if nobody could be let in."""
    roles = _roles(variables.text(f"{_OF}GROUPS", default=""))
    admin_group = variables.text(f"{_OF}ADMIN_GROUP", default="")
    admits = variables.text(f"{_OF}ADMITS", default=GROUPS)
    domains: frozenset[str] = frozenset()
    if admits not in {GROUPS, EVERYBODY}:
        domains = frozenset(one.strip().lower() for one in admits.split(",") if one.strip())
        if not domains or not all(_DOMAIN.fullmatch(one) for one in domains):
            raise BadEnvironment(
                f"{_OF}ADMITS={admits!r}: use {GROUPS} (who is in a group of {_OF}GROUPS),"
                f" {EVERYBODY}, or domains of mail addresses with commas between."
            )
    if admits == GROUPS and not roles and not admin_group:
        raise BadEnvironment(
            f"{_OF}GROUPS is not set, so nobody could sign in. {_HOW_GROUPS} Or let in"
            f" everybody whom the provider knows: {_OF}ADMITS={EVERYBODY}."
        )
    days = variables.whole(f"{_OF}CONFIRMED_DAYS", default=30, at_least=0, at_most=3650)
    hours = variables.whole(f"{_OF}SESSION_HOURS", default=12, at_least=1, at_most=24 * 90)
    return GroupTerms(
        roles=roles,
        admin_group=admin_group,
        admits="" if domains else admits,
        mail_domains=domains,
        session_lasts=timedelta(hours=hours),
        confirmed_for=timedelta(days=days) if days else None,
    )


def _roles(text: str) -> dict[str, tuple[GroupRole, ...]]:
    """Raises: BadEnvironment, which names the part that does not fit."""
    found: defaultdict[str, list[GroupRole]] = defaultdict(list)
    for group, wanted in _pairs(text):
        team, _, role = wanted.partition(":")
        if not group or role not in ROLES or not _TEAM.fullmatch(team):
            raise BadEnvironment(
                f"{_OF}GROUPS: {group + '=' + wanted!r} does not fit. {_HOW_GROUPS}"
            )
        found[group].append(GroupRole(team=team, role=role))
    return {group: tuple(given) for group, given in found.items()}


def _pairs(text: str) -> list[tuple[str, str]]:
    if not text.lstrip().startswith("{"):
        parts = (one.strip() for one in re.split(r"[,\n]", text))
        return [
            (one.rpartition("=")[0].strip(), one.rpartition("=")[2].strip()) for one in parts if one
        ]
    try:
        told: Any = json.loads(text)
    except ValueError as problem:
        raise BadEnvironment(f"{_OF}GROUPS is no JSON: {problem}. {_HOW_GROUPS}") from None
    return [
        (group, one if isinstance(one, str) else "")
        for group, given in told.items()
        for one in (given if isinstance(given, list) else [given])
    ]
