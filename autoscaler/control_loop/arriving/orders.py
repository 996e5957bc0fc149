"""What is a fetcher told? Where the store is, with the secret of the team whose source it is."""

from __future__ import annotations

from storage.data.cache.copies import key_of
from storage.data.cache.paths import CachePaths
from storage.data.fetcher.orders import FetchOrder
from storage.data.object_stores import CREDENTIALS
from storage.models import DataCopy, DataSource
from tenancy.models import Team
from tenancy.secrets import team_secrets
from tenancy.secrets.team_secrets import SecretUnavailable

from autoscaler.control_loop.tick_context import TickContext


def to_list(source: DataSource, paths: CachePaths, context: TickContext) -> FetchOrder:
    """Raises: SecretUnavailable."""
    return _order(source, "", paths, context)


def to_fetch(
    source: DataSource, copy: DataCopy, paths: CachePaths, context: TickContext
) -> FetchOrder:
    """Raises: SecretUnavailable."""
    key = key_of(copy)
    ready = source.copies.filter(state=DataCopy.State.READY).exclude(pk=copy.pk)
    known = [key_of(one) for one in ready.order_by("-used_at")[:_OTHERS]]
    return _order(
        source,
        copy.version,
        paths,
        context,
        part=str(paths.part(*key)),
        folder=str(paths.folder(*key)),
        known=tuple((str(paths.listing(*one)), str(paths.folder(*one))) for one in known),
    )


_OTHERS = 3  # versions whose files are looked through for the same; guessed


def _order(
    source: DataSource, version: str, paths: CachePaths, context: TickContext, **more: object
) -> FetchOrder:
    place = source.place
    return FetchOrder(
        url=place["url"],
        listing=str(paths.listing(source.pk, version)),
        status=str(paths.status(source.pk, version)),
        endpoint=place.get("endpoint", ""),
        credential=_credential(source),
        networks=tuple(str(one) for one in context.data.networks),
        own=context.data.own,
        **more,  # type: ignore[arg-type]  # checked by whoever calls
    )


def _credential(source: DataSource) -> dict[str, str]:
    name = source.place.get("secret", "")
    if not name:
        return {}
    team = Team.objects.filter(name=source.place["team"]).first()
    if team is None:
        raise SecretUnavailable(f"Team {source.place['team']} was deleted, with secret {name}.")
    found = team_secrets.environment_of(team, [name])
    return {variable: found[variable] for variable in CREDENTIALS if variable in found}
