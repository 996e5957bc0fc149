"""What is believed of what a provider says of a person, and what of it is too strange?"""

from __future__ import annotations

from typing import Any

import pytest
from tenancy.single_sign_on.claims import person_in
from tenancy.single_sign_on.provider import IdentityProvider
from tenancy.single_sign_on.refusals import AnswerInvalid, TooManyGroups

from tests.service.single_sign_on.test_settings import read

ISSUER = "https://login.example.com"
DESCRIPTION = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}


def groups(**claims: Any) -> frozenset[str]:
    claims = {"sub": "ada", **claims}
    return person_in(claims, issuer=ISSUER, groups_claim="groups").groups


@pytest.mark.parametrize("subject", [None, 7, "", "a" * 256, "a\0", "\ud800", ["ada"], {"a": 1}])
def test_a_subject_that_cannot_be_kept_is_nobody(subject: object) -> None:
    with pytest.raises(AnswerInvalid):
        groups(sub=subject)


def test_groups_are_a_list_or_one_name() -> None:
    assert groups() == frozenset()
    assert groups(groups="ml") == {"ml"}
    assert groups(groups=["ml", "text", "g" * 301]) == {"ml", "text"}
    for strange in (7, True, {"ml": 1}, ["ml", 7], [["ml"]]):
        with pytest.raises(AnswerInvalid):
            groups(groups=strange)


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://a"}}},
        {"hasgroups": True},
        {"hasgroups": "true"},
    ],
)
def test_groups_that_are_left_out_are_not_taken_for_none(elsewhere: dict[str, Any]) -> None:
    with pytest.raises(TooManyGroups):
        groups(**elsewhere)
    assert groups(**elsewhere, groups=["ml"]) == {"ml"}


@pytest.mark.parametrize("strange", [{"_claim_names": ["groups"]}, {"hasgroups": {}}])
def test_what_says_so_in_a_strange_way_says_nothing(strange: dict[str, Any]) -> None:
    assert groups(**strange) == frozenset()


@pytest.mark.parametrize(
    "name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]
)
def test_no_address_of_an_encrypted_provider_is_plain(name: str) -> None:
    terms = read(ISSUER=ISSUER)
    assert terms is not None
    provider = IdentityProvider(terms)
    provider.check(dict(DESCRIPTION))
    provider.check({**DESCRIPTION, "userinfo_endpoint": None})
    with pytest.raises(ValueError, match=name):
        provider.check({**DESCRIPTION, name: "http://login.example.com/it"})
