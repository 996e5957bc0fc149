"""Which OpenID provider vouches for people? This is what the environment says about it."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from cluster.variables import BadEnvironment, EnvironmentVariables
from tenancy.single_sign_on.terms import ProviderTerms

from control_plane.configuration import group_settings

CALLBACK: Final = "/sign-in/provider/callback"
_OF: Final = "CONCERTINA_OIDC_"
_LONGEST_ISSUER: Final = 500  # as the column has it


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
        groups=group_settings.read_terms(variables, _OF),
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
