"""Which proxies say in a header who somebody is? This is what the environment says about it."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from cluster.variables import BadEnvironment, EnvironmentVariables
from tenancy.single_sign_on.terms import ProxyTerms

from control_plane.configuration import group_settings

_OF: Final = "CONCERTINA_PROXY_"
_HEADER: Final = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
_TAKEN: Final = frozenset(  # by others here, who would read them no more
    {
        *("accept", "authorization", "content-encoding", "content-length", "content-type"),
        *("cookie", "host", "origin", "referer", "transfer-encoding", "user-agent"),
        *("forwarded", "via", "x-real-ip", "x-csrftoken"),
        *("x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"),
    }
)
_WIDEST: Final = {4: 8, 6: 32}  # bits; wider ones are half the world


def read(variables: EnvironmentVariables) -> ProxyTerms | None:
    """Return the proxies, if there are any. Raises: BadEnvironment."""
    user = _header(variables, "USER_HEADER")
    addresses = variables.text(f"{_OF}ADDRESSES", default="")
    if bool(user) != bool(addresses):
        raise BadEnvironment(
            f"{_OF}USER_HEADER={user!r}, {_OF}ADDRESSES={addresses!r}: set both, the header in"
            " which your proxy says who somebody is, and from where the proxy comes; or neither."
        )
    if not user:
        _check_nothing_else_is_set(variables)
        return None
    terms = ProxyTerms(
        networks=_networks(addresses),
        user_header=user,
        groups_header=_header(variables, "GROUPS_HEADER"),
        mail_header=_header(variables, "MAIL_HEADER"),
        groups=group_settings.read_terms(variables, _OF),
    )
    if len(set(terms.headers)) < len(terms.headers):
        raise BadEnvironment(f"{_OF}…_HEADER: two of them name the same header.")
    _check_headers_are_there(terms)
    return terms


def _check_nothing_else_is_set(variables: EnvironmentVariables) -> None:
    for name in ("GROUPS_HEADER", "MAIL_HEADER", "GROUPS", "ADMIN_GROUP", "ADMITS"):
        if variables.text(f"{_OF}{name}", default=""):
            raise BadEnvironment(
                f"{_OF}{name} is set, and {_OF}ADDRESSES is not. Set {_OF}ADDRESSES and"
                f" {_OF}USER_HEADER as well, or none of them."
            )


def _check_headers_are_there(terms: ProxyTerms) -> None:
    """Raises: BadEnvironment, if something counts that no header tells."""
    groups = terms.groups
    if (groups.roles or groups.admin_group) and not terms.groups_header:
        raise BadEnvironment(
            f"{_OF}GROUPS or {_OF}ADMIN_GROUP is set, and {_OF}GROUPS_HEADER is not. Name the"
            " header in which your proxy tells the groups, such as X-Auth-Request-Groups."
        )
    if groups.mail_domains and not terms.mail_header:
        raise BadEnvironment(
            f"{_OF}ADMITS names domains, and {_OF}MAIL_HEADER is not set. Name the header in which"
            " your proxy tells the mail address, such as X-Auth-Request-Email."
        )


def _header(variables: EnvironmentVariables, name: str) -> str:
    """Return it in small letters."""
    text = variables.text(f"{_OF}{name}", default="")
    if text and (not _HEADER.fullmatch(text) or text.lower() in _TAKEN):
        raise BadEnvironment(
            f"{_OF}{name}={text!r}: use the name of a header of its own, such as"
            " X-Auth-Request-User."
        )
    return text.lower()


def _networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    try:
        found = tuple(ipaddress.ip_network(one.strip()) for one in text.split(",") if one.strip())
    except ValueError as error:
        raise BadEnvironment(
            f"{_OF}ADDRESSES={text!r}: {error}. Use addresses or networks of your proxies with"
            " commas between, such as 10.0.0.7,10.1.0.0/24."
        ) from None
    if not found or any(one.prefixlen < _WIDEST[one.version] for one in found):
        raise BadEnvironment(
            f"{_OF}ADDRESSES={text!r}: whoever comes from there can say to be anybody. Name your"
            " proxies alone."
        )
    return found
