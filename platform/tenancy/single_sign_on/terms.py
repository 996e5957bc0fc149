"""Which identity provider vouches for people, and whom does it let in as what?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Final

# The least first, as `access.permissions` has them, which settings are too early to import.
ROLES: Final = ("viewer", "member", "lead")
GROUPS: Final = "groups"  # only who is in a group that gives something
EVERYBODY: Final = "everybody"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRole:
    """A role in a team, which a group of the provider gives."""

    team: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTerms:
    """What groups give, and who is let in. Rights that nobody confirms for long end."""

    roles: Mapping[str, Collection[GroupRole]] = field(default_factory=dict)  # by group
    admin_group: str = ""
    admits: str = GROUPS  # or EVERYBODY, or "" with `mail_domains`
    mail_domains: frozenset[str] = frozenset()  # in small letters
    session_lasts: timedelta = timedelta(hours=12)
    confirmed_for: timedelta | None = timedelta(days=30)  # None: for ever

    def roles_of(self, groups: Collection[str]) -> dict[str, str]:
        """Return the role that these groups give in each team: of several the strongest."""
        found: dict[str, str] = {}
        for group in groups:
            for given in self.roles.get(group, ()):
                known = found.get(given.team, given.role)
                found[given.team] = max(known, given.role, key=ROLES.index)
        return found

    def makes_admin(self, groups: Collection[str]) -> bool:
        return bool(self.admin_group) and self.admin_group in groups


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyTerms:
    """Proxies of ours that say in headers who somebody is, and nobody else's word for it."""

    networks: tuple[IPv4Network | IPv6Network, ...]  # of the proxies, as this service sees them
    user_header: str
    groups_header: str = ""
    mail_header: str = ""
    groups: GroupTerms = field(default_factory=GroupTerms)

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.user_header, self.groups_header, self.mail_header)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTerms:
    """An OpenID provider, and what this installation is to it."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str  # as people call it, on the button
    redirect_uri: str
    scopes: str = "openid profile email"
    groups_claim: str = "groups"
    groups: GroupTerms = field(default_factory=GroupTerms, compare=False)
