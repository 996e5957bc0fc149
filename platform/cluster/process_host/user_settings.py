"""Which user do jobs without containers run as, and who may reach a service of such jobs?

Each team's jobs run as a user of their own, if root starts them and the kernel allows it. Otherwise
they run as the service, so whoever may submit one can do whatever the service can: everybody who
signs in reads so, and such a service is closed to other machines unless somebody opens it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from cluster.process_host import trial
from cluster.process_host.users.team_users import TeamUsers
from cluster.variables import BadEnvironment, EnvironmentVariables

UIDS: Final = "1900000000-1900009999"  # of a range that neither distributions nor systemd hand out
_FIRST_OF_PEOPLE: Final = 1000  # smaller numbers are the system's
_LAST: Final = 2**32 - 2


class UserMode(StrEnum):
    """What CONCERTINA_TEAM_USERS may say."""

    AUTO = "auto"  # where it is possible
    REQUIRED = "required"  # or the service does not start
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """The configuration of the users that jobs run as."""

    mode: UserMode
    range: TeamUsers
    is_everybody_trusted: bool  # CONCERTINA_TRUST_ALL_JOBS

    @property
    def why_not_used(self) -> str:
        """Say what keeps each team's jobs from running as a user of their own; empty: nothing."""
        if self.mode is UserMode.OFF:
            return "CONCERTINA_TEAM_USERS is off"
        return _why_not(self.range.first)


@lru_cache
def _why_not(user: int) -> str:
    """Try once; what a machine can do does not change while a process lives."""
    return trial.why_not(user)


def read(variables: EnvironmentVariables) -> UserSettings:
    mode = variables.choice("CONCERTINA_TEAM_USERS", default=UserMode.AUTO, among=[*UserMode])
    return UserSettings(
        mode=UserMode(mode),
        range=_range(variables.text("CONCERTINA_TEAM_UIDS", default=UIDS)),
        is_everybody_trusted=variables.boolean("CONCERTINA_TRUST_ALL_JOBS", default=False),
    )


def check(settings: UserSettings, *, service_url: str, hosts: Iterable[str]) -> None:
    """Refuse what would hand the machine to people of other machines, or is less than required.

    Raises:
        BadEnvironment: with what to do instead.
    """
    if settings.mode is UserMode.REQUIRED and (why := settings.why_not_used):
        raise BadEnvironment(
            f"CONCERTINA_TEAM_USERS is required, but jobs cannot run as users of their own: {why}."
        )
    opened = beyond_this_machine(service_url, hosts)
    if not opened or settings.is_everybody_trusted:
        return
    if why := settings.why_not_used:
        raise BadEnvironment(
            f"{opened} opens the service to other machines, while jobs run as its own user, so that"
            " whoever may submit one can read every secret and the database. They do because"
            f" {why}. Run it as root, so that each team's jobs get a user of their own; or use"
            " containers (CONCERTINA_WORKER_HOST=docker); or set CONCERTINA_TRUST_ALL_JOBS=yes if"
            " everybody who may submit may also do all this."
        )


def beyond_this_machine(service_url: str, hosts: Iterable[str]) -> str:
    """Return the setting of a service that reaches beyond this machine; empty if there is none."""
    if not _is_loopback(urlsplit(service_url).hostname or ""):
        return f"CONCERTINA_SERVICE_URL={service_url!r}"
    others = [host for host in hosts if not _is_loopback(host)]
    return f"{others[0]!r} among CONCERTINA_ALLOWED_HOSTS" if others else ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _range(text: str) -> TeamUsers:
    first, _, last = text.partition("-")
    if first.isdecimal() and last.isdecimal():
        given = TeamUsers(first=int(first), last=int(last))
        if _FIRST_OF_PEOPLE <= given.first < given.last < _LAST:
            return given
    raise BadEnvironment(
        f"CONCERTINA_TEAM_UIDS={text!r}: use two numbers of users that nobody else on the machine"
        f" is, such as {UIDS}; each team takes two."
    )
