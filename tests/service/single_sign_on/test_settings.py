"""Which settings of a provider stop the start, and does the message say what to do?"""

from __future__ import annotations

from datetime import timedelta

import pytest
from cluster.variables import BadEnvironment, EnvironmentVariables
from control_plane.configuration import provider_settings

from tests.identity_provider import CLIENT_SECRET

WHOLE = {
    "ISSUER": "https://login.example.com/realms/lab",
    "CLIENT_ID": "concertina",
    "CLIENT_SECRET": CLIENT_SECRET,
    "GROUPS": "ml=vision:member, ml=language:viewer,cn=leads=vision:lead",
}
SERVICE = "https://gpus.example.com/"


def read(**changes: str) -> object:
    environ = {f"CONCERTINA_OIDC_{name}": value for name, value in (WHOLE | changes).items()}
    return provider_settings.read(EnvironmentVariables(environ), service_url=SERVICE)


def test_nothing_is_on_by_default() -> None:
    assert provider_settings.read(EnvironmentVariables({}), service_url=SERVICE) is None


def test_what_is_said_is_read_and_the_rest_is_sensible() -> None:
    terms = provider_settings.read(
        EnvironmentVariables({f"CONCERTINA_OIDC_{name}": value for name, value in WHOLE.items()}),
        service_url=SERVICE,
    )
    assert terms is not None
    assert terms.redirect_uri == "https://gpus.example.com/sign-in/provider/callback"
    assert terms.name == "login.example.com"
    assert CLIENT_SECRET not in repr(terms)
    groups = terms.groups
    assert groups.roles_of({"ml", "cn=leads"}) == {"vision": "lead", "language": "viewer"}
    assert not groups.makes_admin({""})
    assert (groups.session_lasts, groups.confirmed_for) == (
        timedelta(hours=12),
        timedelta(days=30),
    )


def test_groups_with_commas_are_written_as_json() -> None:
    terms = provider_settings.read(
        EnvironmentVariables(
            {
                **{f"CONCERTINA_OIDC_{name}": value for name, value in WHOLE.items()},
                "CONCERTINA_OIDC_GROUPS": '{"cn=ml,ou=groups": ["vision:member"], "a": "b:lead"}',
                "CONCERTINA_OIDC_CONFIRMED_DAYS": "0",
            }
        ),
        service_url=SERVICE,
    )
    assert terms is not None
    assert terms.groups.roles_of({"cn=ml,ou=groups", "a"}) == {"vision": "member", "b": "lead"}
    assert terms.groups.confirmed_for is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ISSUER": "http://login.example.com"}, "https:// address"),
        ({"ISSUER": "login.example.com"}, "https:// address"),
        ({"ISSUER": "https://me@login.example.com"}, "https:// address"),
        ({"ISSUER": "https://login.example.com?a=b"}, "https:// address"),
        ({"ISSUER": "https://[broken"}, "https:// address"),
        ({"ISSUER": ""}, "ISSUER is not"),
        ({"CLIENT_ID": ""}, "https://gpus.example.com/sign-in/provider/callback"),
        ({"CLIENT_SECRET": ""}, "CONCERTINA_OIDC_CLIENT_SECRET is not set"),
        ({"SCOPES": "profile"}, "openid has to be"),
        ({"GROUPS": ""}, "nobody could sign in"),
        ({"GROUPS": "ml=vision"}, "'ml=vision' does not fit"),
        ({"GROUPS": "ml=vision:boss"}, "'ml=vision:boss' does not fit"),
        ({"GROUPS": "vision:member"}, "does not fit"),
        ({"GROUPS": '{"ml": 7}'}, "does not fit"),
        ({"GROUPS": '{"ml'}, "no JSON"),
        ({"ADMITS": "example"}, "domains of mail addresses"),
        ({"ADMITS": " , "}, "domains of mail addresses"),
        ({"SESSION_HOURS": "0"}, "CONCERTINA_OIDC_SESSION_HOURS"),
        ({"NAME": "a\nb"}, "a button shows"),
    ],
)
def test_what_does_not_fit_stops_the_start(changes: dict[str, str], told: str) -> None:
    with pytest.raises(BadEnvironment, match=told):
        read(**changes)
