"""Which secrets does a team keep, and what is in them? Only jobs are ever told their values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, cast

from django.db import transaction

from tenancy.audit import records
from tenancy.errors import FieldFault, SecretInvalid, TooManySecrets
from tenancy.models import Secret, Team, slug_validator
from tenancy.secrets import encryption
from tenancy.secrets.values import RegistrySecret, SecretVariables

MOST_PER_TEAM: Final = 100  # so that a list of them is one page


class SecretUnavailable(Exception):
    """A secret that a job needs cannot be read; the message is for the job's users."""


def put(
    *, team: Team, name: str, content: SecretVariables | RegistrySecret, by: str
) -> tuple[Secret, bool]:
    """Keep a secret under this name, instead of any before; True if there was none.

    Raises:
        SecretInvalid: the name is wrong, or the team has another login for this registry.
        TooManySecrets: the team keeps as many as it may.
    """
    _check_name(name)
    fields = {**_shown(content), "sealed": _sealed(team, name, content), "updated_by": by}
    with transaction.atomic():
        kept = Secret.objects.filter(team=Team.objects.select_for_update().get(pk=team.pk))
        _check_registry(kept.exclude(name=name), fields["registry"])
        if kept.exclude(name=name).count() >= MOST_PER_TEAM:
            raise TooManySecrets
        former = kept.filter(name=name).first()
        records.note_change(before=former and _told(former), after=_shown(content))
        made = former or Secret(team=team, name=name)
        for field, value in fields.items():
            setattr(made, field, value)
        made.save()
    return made, former is None


def environment_of(team: Team, names: Collection[str]) -> Mapping[str, str]:
    """Return the variables of these secrets.

    Raises:
        SecretUnavailable: one was deleted, or cannot be decrypted.
    """
    if not names:
        return {}
    rows = {row.name: row for row in Secret.objects.filter(team=team, name__in=names)}
    found: dict[str, str] = {}
    for name in names:
        if name not in rows:
            raise SecretUnavailable(f"Secret {name} of team {team.name} was deleted.")
        if rows[name].kind == Secret.Kind.ENVIRONMENT:
            found |= cast("dict[str, str]", _opened(rows[name]))
    return found


def registry_login_of(team: Team, registry: str) -> RegistrySecret | None:
    """Return the team's login for a registry; None if it keeps none.

    Raises:
        SecretUnavailable: it cannot be decrypted.
    """
    row = Secret.objects.filter(team=team, registry=registry).first() if registry else None
    if row is None:
        return None
    values: Any = _opened(row)
    return RegistrySecret(registry=registry, **values)


def reseal_all() -> tuple[int, list[Secret]]:
    """Encrypt every secret with the newest key; return how many, and those no key decrypts."""
    lost = []
    resealed = 0
    for row in Secret.objects.select_related("team").iterator():
        try:
            sealed = encryption.reencrypt(row.sealed)
        except encryption.CannotDecrypt:
            lost.append(row)
            continue
        # Unless somebody has put another one meanwhile, which is under the newest key.
        resealed += Secret.objects.filter(pk=row.pk, sealed=row.sealed).update(sealed=sealed)
    return resealed, lost


def _check_name(name: str) -> None:
    if not re.fullmatch(slug_validator.regex, name):
        remedy = str(slug_validator.message)
        raise SecretInvalid(
            [FieldFault(field="name", problem="is not a secret's name", remedy=remedy)]
        )


def _check_registry(others: Iterable[Secret], registry: str) -> None:
    same = next((row for row in others if registry and row.registry == registry), None)
    if same is not None:
        fault = FieldFault(
            field="registry",
            problem=f"has a login already, in secret {same.name}",
            remedy="Replace that one, or delete it first.",
        )
        raise SecretInvalid([fault])


def _shown(content: SecretVariables | RegistrySecret) -> dict[str, Any]:
    """Return the parts of a secret that anybody may see."""
    if isinstance(content, SecretVariables):
        names = sorted(content.values)
        return {"kind": Secret.Kind.ENVIRONMENT, "variables": names, "registry": ""}
    return {"kind": Secret.Kind.REGISTRY, "variables": [], "registry": content.registry}


def _told(row: Secret) -> dict[str, Any]:
    return {"kind": row.kind, "variables": row.variables, "registry": row.registry}


def _sealed(team: Team, name: str, content: SecretVariables | RegistrySecret) -> str:
    if isinstance(content, SecretVariables):
        return encryption.encrypt(content.values, place=_place(team.pk, name))
    values = {"username": content.username, "password": content.password}
    return encryption.encrypt(values, place=_place(team.pk, name))


def _opened(row: Secret) -> dict[str, object]:
    try:
        return encryption.decrypt(row.sealed, place=_place(row.team_id, row.name))
    except encryption.CannotDecrypt:
        raise SecretUnavailable(
            f"Secret {row.name} of team {row.team.name} cannot be decrypted: the service's secret"
            " key was changed. Set the secret again."
        ) from None


def _place(team_id: int, name: str) -> str:
    return f"{team_id}/{name}"
