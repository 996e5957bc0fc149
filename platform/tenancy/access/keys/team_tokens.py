"""Which tokens does a team have? Its leads and admins make, rotate and revoke them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tenancy.access.keys import tokens
from tenancy.access.principal import Principal
from tenancy.access.token_bounds import TokenBounds
from tenancy.audit import records
from tenancy.errors import TokenHasEnded, TokenLastsTooLong, TokenNameTaken, TooManyTokens
from tenancy.models import Team, Token, TokenState

USUAL_DAYS: Final = 90
MOST_DAYS: Final = 3650  # of an admin's; one that never expires is an admin's as well
MOST_VALID: Final = 100  # of a team
MOST_ENDED: Final = 100  # of a team; those that ended earlier are forgotten
USUAL_OVERLAP_HOURS: Final = 24
MOST_OVERLAP_HOURS: Final = 30 * 24
_log: Final = logging.getLogger(__name__)


def of(team: Team) -> Sequence[Token]:
    """Return the team's valid tokens by name, then those that ended last."""
    return tokens.listed(
        Token.objects.filter(team=team), most_valid=MOST_VALID * 2, most_ended=MOST_ENDED
    )


def make(
    principal: Principal,
    team: Team,
    name: str,
    *,
    days: int | None,
    longest_days: int,
    scopes: Collection[str] | None = None,
    bounds: TokenBounds | None = None,
) -> tuple[Token, str]:
    """Make a token that lasts so many days, None: for ever; the second value is its key.

    Raises:
        TokenLastsTooLong: for who makes it.
        TokenNameTaken: by one that is valid.
        TooManyTokens: the team has as many as it may.
    """
    until = _until(principal, days, longest_days)
    return make_until(principal.name, team, name, until, scopes=scopes, bounds=bounds)


def make_until(
    by: str,
    team: Team,
    name: str,
    until: datetime | None,
    *,
    scopes: Collection[str] | None = None,
    bounds: TokenBounds | None = None,
) -> tuple[Token, str]:
    """Make a token that lasts until then, None: for ever; whoever is `by` may say so.

    Raises:
        TokenNameTaken: by one that is valid.
        TooManyTokens: the team has as many as it may.
    """
    with transaction.atomic():
        check_may_be_made(team, name)
        made = tokens.issue(
            team=team, name=name, expires_at=until, created_by=by, scopes=scopes, bounds=bounds
        )
    told = tokens.told(made[0])
    records.note_target(team_id=team.pk, target=_place(team, made[0]))
    records.note_change(after=told)
    _note(by, team, made[0], f"made for {_may(made[0])}, {_words(until)}")
    return made


def check_may_be_made(team: Team, name: str) -> None:
    """Look whether there is room, and let nobody else make one until the transaction ends.

    Raises:
        TokenNameTaken: by one that is valid.
        TooManyTokens: the team has as many as it may.
    """
    _hold(team)
    _check_room(team)
    if _valid(team).filter(name=name).exists():
        raise TokenNameTaken


def rotate(
    principal: Principal,
    team: Team,
    token: Token,
    *,
    overlap: timedelta,
    days: int | None,
    longest_days: int,
) -> tuple[Token, str]:
    """Make a token in place of another, which is valid for a while longer, at most as before.

    Raises:
        TokenHasEnded: there is nothing to go on with.
        TokenLastsTooLong: for who rotates it.
        TooManyTokens: the team has as many as it may.
    """
    until = _until(principal, days, longest_days)
    with transaction.atomic():
        # First, as who uses it does: its last use is noted, then the team is held.
        former = Token.objects.select_for_update().filter(pk=token.pk).first()
        _hold(team)
        if former is None or former.state != TokenState.VALID:
            raise TokenHasEnded
        _check_room(team)
        _end(former, after=overlap)
        made = tokens.issue(
            team=team,
            name=former.name,
            expires_at=until,
            created_by=principal.name,
            scopes=former.scopes,
            bounds=TokenBounds.of(former.pools, former.labels),
            line=former.line_id,
        )
    ends = _words(former.expires_at) if overlap else "revoked"
    records.note_change(before={**tokens.told(former), "ends": ends}, after=tokens.told(made[0]))
    _note(principal.name, team, former, f"rotated, {ends}")
    _note(principal.name, team, made[0], f"made for {_may(made[0])}, {_words(until)}")
    return made


def revoke(by: str, team: Team, token: Token) -> bool:
    """Make a token useless at once; one that is already stays so, and False is returned."""
    if not tokens.revoke(token):
        return False
    after = {"state": TokenState.REVOKED.value}
    records.note_change(
        before=tokens.told(token), after=after, row=f"{team}/{token.name} {token.prefix}"
    )
    _note(by, team, token, "revoked")
    return True


def _until(principal: Principal, days: int | None, longest_days: int) -> datetime | None:
    """Return when a token expires. Raises: TokenLastsTooLong."""
    if not principal.is_admin and (days is None or days > longest_days):
        raise TokenLastsTooLong(
            f"Tokens that leads make last at most {longest_days} days. Ask for fewer, or ask an"
            " admin, who also makes those that never expire."
        )
    return None if days is None else timezone.now() + timedelta(days=days)


def _hold(team: Team) -> None:
    """Let nobody else make a token of the team until the transaction ends."""
    Team.objects.select_for_update(no_key=True).only("pk").get(pk=team.pk)


def _valid(team: Team) -> QuerySet[Token]:
    return Token.objects.filter(tokens.is_valid(timezone.now()), team=team)


def _check_room(team: Team) -> None:
    """Forget tokens that ended long ago. Raises: TooManyTokens."""
    tokens.forget_ended(Token.objects.filter(team=team), most=MOST_ENDED)
    if _valid(team).count() >= MOST_VALID:
        raise TooManyTokens


def _end(token: Token, *, after: timedelta) -> None:
    """Let it expire then, or when it would anyway; revoke it if that is now."""
    now = timezone.now()
    if not after:
        token.revoked_at = now
    elif token.expires_at is None or token.expires_at > now + after:
        token.expires_at = now + after
    token.save(update_fields=["expires_at", "revoked_at"])


def _words(until: datetime | None) -> str:
    return "never expires" if until is None else f"expires at {until:%Y-%m-%d %H:%M} UTC"


def _may(token: Token) -> str:
    may = "everything" if token.scopes is None else ", ".join(token.scopes)
    bounds = TokenBounds.of(token.pools, token.labels)
    return may if bounds is None else f"{may}, of {bounds}"


def _place(team: Team, token: Token) -> str:
    return f"teams/{team.name}/tokens/{token.pk}"


def _note(by: str, team: Team, token: Token, what: str) -> None:
    extra = {"action": "tokens", "team": team.name, "token": token.prefix, "by": by}
    _log.info("In team %s, token %s: %s.", team.name, token.name, what, extra=extra)
