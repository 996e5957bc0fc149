"""Make a new installation usable: a pool with nodes, teams with guarantees and keys, an admin.

`manage.py bootstrap --pool default --nodes 1 --slots 4 --team vision=2 --team language=2
--admin-password …` prints `{"tokens": {team: key}, "admin": {"username", "password"}}`. It may be
run again and again: it sets what it is told and removes nothing. A key is printed only when it is
made, because only its digest is kept; later runs print null unless `--new-tokens` replaces it. An
admin who is there keeps the password, printed as null, unless `--new-admin-password` replaces it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from cluster.models import Node, Pool
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone
from tenancy.access.keys import team_tokens
from tenancy.audit import records, writing
from tenancy.audit.records import AuditRecord, recording
from tenancy.errors import TenancyError
from tenancy.models import AuditOutcome, AuditSenderKind, ImageRule, Quota, Team, Token
from tenancy.quota_rules import problem_of_second_team

BY: Final = "bootstrap"  # in logs, instead of a person
TOKEN_NAME: Final = "bootstrap"  # noqa: S105 - a token's name
PASSWORD_VARIABLE: Final = "CONCERTINA_ADMIN_PASSWORD"  # noqa: S105 - a variable's name


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()  # `migrate` has gone through them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pool", default="default", help="name of the pool")
        parser.add_argument("--gpu-type", default="slot", help="what its GPUs are")
        parser.add_argument("--nodes", type=int, default=1, help="number of nodes")
        parser.add_argument("--slots", type=int, default=4, help="GPUs per node")
        parser.add_argument(
            "--gpu-uuids",
            help="of one node's GPUs, by index: GPU-…,GPU-…; empty: none; not given: as before",
        )
        parser.add_argument(
            "--team",
            action="append",
            default=[],
            metavar="NAME=GUARANTEED",
            help="a team and the GPUs guaranteed to it; may be repeated",
        )
        parser.add_argument(
            "--teams-trust-each-other",
            action="store_true",
            help="let several teams have the pool where their jobs are not kept apart, as on a Ray"
            " cluster without CONCERTINA_RAY_FIRST_UID",
        )
        parser.add_argument(
            "--image",
            action="append",
            default=[],
            metavar="PATTERN",
            help="images that every team may run; may be repeated",
        )
        parser.add_argument(
            "--new-tokens", action="store_true", help="replace the keys of earlier runs"
        )
        parser.add_argument("--admin", default="admin", help="username of the administrator")
        parser.add_argument(
            "--admin-password",
            default="",
            help="of a new administrator; everybody on the machine sees it here, so rather set"
            f" {PASSWORD_VARIABLE}; default: a random one",
        )
        parser.add_argument(
            "--new-admin-password",
            action="store_true",
            help="replace the password of an administrator who is there already, too",
        )

    @transaction.atomic
    def handle(self, *_: Any, **options: Any) -> None:
        try:
            pool = _make_pool(options)
            teams = [
                _make_team(name, guaranteed, pool)
                for name, guaranteed in map(_parse_team, options["team"])
            ]
            _check_guarantees(pool)
            for pattern in options["image"]:
                _allow(pattern)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        keys = {team.name: _make_key(team, replaces=options["new_tokens"]) for team in teams}
        admin = _make_admin(
            options["admin"],
            options["admin_password"] or os.environ.get(PASSWORD_VARIABLE, ""),
            replaces=options["new_admin_password"],
        )
        self.stdout.write(json.dumps({"tokens": keys, "admin": admin}, indent=2))


def _make_pool(options: dict[str, Any]) -> Pool:
    pool = Pool.objects.filter(name=options["pool"]).first() or Pool(name=options["pool"])
    pool.gpu_type = options["gpu_type"]
    pool.teams_trust_each_other |= options["teams_trust_each_other"]
    pool.full_clean()
    pool.save()
    fields = {"pool": pool, "gpus": options["slots"], **_named(options["gpu_uuids"])}
    if options["nodes"] > 1 and fields.get("gpu_uuids"):
        raise CommandError("--gpu-uuids are those of one node: write others in the administration.")
    for number in range(1, options["nodes"] + 1):
        node, _ = Node.objects.update_or_create(name=f"{pool.name}-{number}", defaults=fields)
        node.check_gpu_uuids()
    return pool


def _named(gpu_uuids: str | None) -> dict[str, Any]:
    """Return the columns to write; those that nobody named are left out."""
    if gpu_uuids is None:
        return {}
    return {"gpu_uuids": [uuid for uuid in gpu_uuids.split(",") if uuid]}


def _parse_team(text: str) -> tuple[str, int]:
    name, _, guaranteed = text.partition("=")
    if not guaranteed.isdecimal():
        raise CommandError(f"--team {text!r}: write it as NAME=GPUS, such as vision=2.")
    return name, int(guaranteed)


def _make_team(name: str, guaranteed: int, pool: Pool) -> Team:
    team = Team.objects.filter(name=name).first() or Team(name=name)
    team.full_clean()
    team.save()
    _check_is_for_all(pool, team)
    Quota.objects.update_or_create(team=team, pool=pool, defaults={"guaranteed_gpus": guaranteed})
    return team


def _check_is_for_all(pool: Pool, team: Team) -> None:
    """Raises: CommandError, where a pool for one team would serve a second one."""
    if not (why := pool.why_for_one_team):
        return
    if pool.quotas.filter(team=team).exists():
        return
    if found := problem_of_second_team(team.name, pool.teams_there, why_for_one_team=why):
        raise CommandError(f"{found.message} That is --teams-trust-each-other here.")


def _make_key(team: Team, *, replaces: bool) -> str | None:
    earlier = Token.objects.filter(team=team, name=TOKEN_NAME, revoked_at=None)
    if earlier.exists() and not replaces:
        return None
    with _written(f"teams/{team.name}/tokens"):
        for token in earlier:
            team_tokens.revoke(BY, team, token)
        try:
            _, key = team_tokens.make_until(BY, team, TOKEN_NAME, None)
        except TenancyError as refusal:
            raise CommandError(f"Team {team.name}: {refusal}") from refusal
    return key


@contextmanager
def _written(target: str) -> Iterator[None]:
    """Write into the audit log what is changed here."""
    with recording(AuditRecord(operation=BY, target=target)) as record:
        yield
    sender = writing.AuditSender(kind=AuditSenderKind.SERVICE, name=BY)
    writing.write(record, sender, AuditOutcome.DONE, answer=0, at=timezone.now())


def _check_guarantees(pool: Pool) -> None:
    for quota in Quota.objects.filter(pool=pool):
        quota.full_clean()


def _allow(pattern: str) -> None:
    rule = ImageRule(pattern=pattern)
    rule.full_clean(validate_constraints=False)  # which would refuse a rule that is there
    ImageRule.objects.get_or_create(pattern=rule.pattern, team=None)


def _make_admin(username: str, password: str, *, replaces: bool) -> dict[str, str | None]:
    """Make a new admin; an existing one keeps the password, and nobody else becomes an admin."""
    admin = User.objects.filter(username=username).first()
    if admin is not None and not admin.is_superuser:
        raise CommandError(
            f"--admin {username!r}: this user is there and is no administrator. Name another one,"
            " or make this one a superuser in the administration."
        )
    if admin is not None and not replaces:
        return {"username": username, "password": None}
    password = password or secrets.token_urlsafe(12)
    admin = admin or User(username=username, is_staff=True, is_superuser=True)
    with _written("people"):
        records.note_change(after={"admin": username, "is_new": admin.pk is None})
        admin.set_password(password)
        admin.save()
    return {"username": username, "password": password}
