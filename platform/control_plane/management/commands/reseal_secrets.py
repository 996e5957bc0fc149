"""Bring teams' secrets and webhooks under the newest secret key, so that an earlier one can go.

After `CONCERTINA_SECRET_KEY` was changed and the old one put into
`CONCERTINA_SECRET_KEY_FALLBACKS`. May be run again and again.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tenancy.secrets import team_secrets
from webhooks import secrets


class Command(BaseCommand):
    help = __doc__

    def handle(self, *_: Any, **__: Any) -> None:
        resealed, lost = team_secrets.reseal_all()
        webhooks, lost_webhooks = secrets.reseal_all()
        self.stdout.write(f"{resealed} secrets are under the newest key.")
        self.stdout.write(f"{webhooks} webhooks are under the newest key.")
        if lost or lost_webhooks:
            names = [f"{row.team.name}/{row.name}" for row in lost]
            names += [f"webhook {row}" for row in lost_webhooks]
            raise CommandError(
                f"No key opens {', '.join(names)}: set them again, or put the key they were set"
                " under into CONCERTINA_SECRET_KEY_FALLBACKS."
            )
