"""What do the provider's groups give, and what do they take?"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from tenancy.access import permissions
from tenancy.access.keys import personal_tokens
from tenancy.models import AuditEntry, Membership, Team
from tenancy.single_sign_on import terms
from tenancy.single_sign_on.lapsing import take_what_lapsed
from tenancy.single_sign_on.terms import EVERYBODY

from tests.identity_provider import RunningProvider
from tests.service.single_sign_on.conftest import ADA, TERMS, set_up, sign_in, who

pytestmark = pytest.mark.usefixtures("teams")
REFUSED = "/login?problem=not_in_a_group"


def now_in(provider: RunningProvider, *groups: str) -> None:
    provider.has({"sub-ada": {**ADA, "groups": list(groups)}})


def places() -> dict[str, str]:
    return dict(Membership.objects.values_list("team__name", "role"))


def test_the_roles_are_those_of_the_permissions() -> None:
    assert terms.ROLES == permissions.ROLES


def test_groups_give_and_take_roles_at_each_sign_in(
    provider: RunningProvider, client: Client
) -> None:
    for groups, roles in (
        (["ml"], {"vision": "member"}),
        (["ml", "ml-leads", "text"], {"vision": "lead", "language": "viewer"}),
        (["text"], {"language": "viewer"}),
    ):
        now_in(provider, *groups)
        sign_in(client, provider)
        assert places() == roles
    entry = AuditEntry.objects.filter(operation="sign_in_by_provider").order_by("-pk")[0]
    assert entry.before == {"vision": "lead"}


def test_a_role_that_people_gave_stays(
    provider: RunningProvider, client: Client, vision: Team, language: Team
) -> None:
    sign_in(client, provider)
    person = User.objects.get(username="ada")
    Membership.objects.create(team=language, user=person, role="lead")
    now_in(provider, "ml-leads", "text")
    sign_in(client, provider)
    assert places() == {"vision": "lead", "language": "lead"}
    now_in(provider, "ml")
    sign_in(client, provider)
    assert places() == {"vision": "member", "language": "lead"}


def test_leads_see_what_comes_from_the_provider_and_leave_it(
    provider: RunningProvider, client: Client, vision: Team, admin_client: Client
) -> None:
    sign_in(client, provider)
    lead = User.objects.create_user("lena", password="a long password")
    Membership.objects.create(team=vision, user=lead, role="lead")
    own = Client()
    own.force_login(lead)
    address = "/api/v1/teams/vision/members"
    told = {one["name"]: one["from_provider"] for one in own.get(address).json()["items"]}
    assert told == {"ada": True, "lena": False}
    for answer in (
        own.delete(f"{address}/ada"),
        own.patch(f"{address}/ada", {"role": "viewer"}, content_type="application/json"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "role_from_provider")
    changed = admin_client.patch(
        f"{address}/ada", {"role": "viewer"}, content_type="application/json"
    )
    assert changed.json()["from_provider"] is False


def test_who_is_in_no_group_any_more_loses_sessions_tokens_and_roles(
    provider: RunningProvider, client: Client
) -> None:
    sign_in(client, provider)
    person = User.objects.get(username="ada")
    _, key = personal_tokens.make(person, "laptop", days=5, longest_days=90, scopes=["read"])
    bearer = {"Authorization": f"Bearer {key}"}
    assert client.get("/api/v1/jobs", headers=bearer).status_code == 200
    now_in(provider)
    assert sign_in(Client(), provider) == REFUSED
    assert who(client) is None
    assert Client().get("/api/v1/jobs", headers=bearer).status_code == 401
    assert places() == {}
    entry = AuditEntry.objects.filter(operation="sign_in_by_provider").order_by("-pk")[0]
    assert (entry.outcome, entry.sender) == ("refused", "ada")
    assert entry.before == {"vision": "member", "is_active": True}
    now_in(provider, "text")
    assert sign_in(client, provider) == "/"
    assert (who(client), places()) == ("ada", {"language": "viewer"})


def test_an_account_that_an_admin_switched_off_stays_off(
    provider: RunningProvider, client: Client
) -> None:
    sign_in(client, provider)
    User.objects.update(is_active=False)
    assert sign_in(client, provider) == "/login?problem=account_off"
    assert not User.objects.get().is_active


def test_a_group_makes_admins_and_unmakes_only_those(
    provider: RunningProvider, client: Client
) -> None:
    now_in(provider, "root", "ml")
    sign_in(client, provider)
    assert User.objects.get().is_superuser
    now_in(provider, "ml")
    sign_in(client, provider)
    assert not User.objects.get().is_superuser
    User.objects.update(is_superuser=True)
    sign_in(client, provider)
    assert User.objects.get().is_superuser  # people made her one
    now_in(provider)
    assert sign_in(client, provider) == REFUSED
    assert User.objects.get().is_active  # somebody has to be able to repair things


def test_what_an_admin_switches_off_after_groups_did_stays_off(
    provider: RunningProvider, client: Client, admin_client: Client
) -> None:
    sign_in(client, provider)
    person = User.objects.get(username="ada")
    now_in(provider)
    assert sign_in(client, provider) == REFUSED
    for is_active in (True, False):
        switch(admin_client, person, is_active=is_active)
    now_in(provider, "ml")
    assert sign_in(client, provider) == "/login?problem=account_off"


def test_an_admin_whom_people_made_one_again_stays_one(
    provider: RunningProvider, client: Client, admin_client: Client
) -> None:
    now_in(provider, "root", "ml")
    sign_in(client, provider)
    person = User.objects.get(username="ada")
    for is_superuser in (False, True):
        switch(admin_client, person, is_superuser=is_superuser)
    now_in(provider, "ml")
    sign_in(client, provider)
    assert User.objects.get(username="ada").is_superuser


def switch(admin: Client, person: User, *, is_active: bool = True, **marks: bool) -> None:
    """Save the person's page in the administration with these marks."""
    kept = Membership.objects.filter(user=person)
    form = {
        "username": person.username,
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        "memberships-TOTAL_FORMS": str(kept.count()),
        "memberships-INITIAL_FORMS": str(kept.count()),
        **({"is_active": "on"} if is_active else {}),
        **{name: "on" for name, is_set in marks.items() if is_set},
    }
    for number, place in enumerate(kept):
        form |= {
            f"memberships-{number}-{name}": str(value)
            for name, value in (
                *(("id", place.pk), ("user", person.pk)),
                *(("team", place.team_id), ("role", place.role)),
            )
        }
    saved = admin.post(f"/admin/auth/user/{person.pk}/change/", form)
    assert saved.status_code == 302, saved.content.decode()


@pytest.mark.parametrize("by", ["page", "list"])
def test_what_groups_gave_ends_with_the_row_that_says_who_it_is(
    by: str, provider: RunningProvider, client: Client, admin_client: Client
) -> None:
    now_in(provider, "root", "ml")
    sign_in(client, provider)
    person = User.objects.get(username="ada")
    number = person.provider_identity.pk
    page = "/admin/tenancy/provideridentity/"
    if by == "list":
        chosen = {"action": "delete_selected", "_selected_action": str(number), "post": "yes"}
        answer = admin_client.post(page, chosen)
    else:
        answer = admin_client.post(f"{page}{number}/delete/", {"post": "yes"})
    assert answer.status_code == 302, answer.content.decode()
    person.refresh_from_db()
    assert (places(), person.is_superuser, person.is_active) == ({}, False, True)


def test_an_identity_stays_that_of_its_person(
    provider: RunningProvider, client: Client, admin_client: Client
) -> None:
    sign_in(client, provider)
    identity = User.objects.get(username="ada").provider_identity
    admin_client.post(
        f"/admin/tenancy/provideridentity/{identity.pk}/change/",
        {"person": User.objects.exclude(username="ada").get().pk, "issuer": "a", "subject": "b"},
    )
    identity.refresh_from_db()
    assert (identity.person.username, identity.subject) == ("ada", "sub-ada")


@pytest.mark.parametrize(
    ("mail", "ends_at"),
    [
        ({"email": "ada@example.com"}, "/"),
        ({"email": "ada@EXAMPLE.com"}, "/"),
        ({"email_verified": False}, "/login?problem=mail_not_admitted"),
        ({"email_verified": "true"}, "/login?problem=mail_not_admitted"),
        ({"email": "ada@example.com.evil.example"}, "/login?problem=mail_not_admitted"),
        ({"email": "ada@sub.example.com"}, "/login?problem=mail_not_admitted"),
    ],
)
def test_domains_of_mail_addresses_let_in_those_that_are_confirmed(
    mail: dict[str, Any], ends_at: str, provider: RunningProvider, settings: Settings
) -> None:
    set_up(settings, provider, replace(TERMS, admits="", mail_domains=frozenset({"example.com"})))
    provider.has({"sub-ada": {**ADA, **mail}})
    assert sign_in(Client(), provider) == ends_at


def test_everybody_may_come_and_has_no_role_without_a_group(
    provider: RunningProvider, client: Client, settings: Settings
) -> None:
    set_up(settings, provider, replace(TERMS, admits=EVERYBODY))
    now_in(provider)
    assert sign_in(client, provider) == "/"
    assert (who(client), places()) == ("ada", {})


def test_groups_may_be_below_another_claim(
    provider: RunningProvider, client: Client, settings: Settings
) -> None:
    set_up(settings, provider, TERMS, groups_claim="realm_access.roles")
    provider.has({"sub-ada": {**ADA, "realm_access": {"roles": ["ml"]}}})
    assert sign_in(client, provider) == "/"
    assert places() == {"vision": "member"}


def test_so_many_groups_that_some_would_be_left_out_let_nobody_in(
    provider: RunningProvider, client: Client
) -> None:
    now_in(provider, "ml", *(f"g{number}" for number in range(1000)))
    assert sign_in(client, provider) == "/login?problem=too_many_groups"


def test_what_nobody_confirmed_for_long_ends(provider: RunningProvider, client: Client) -> None:
    now_in(provider, "root", "ml")
    sign_in(client, provider)

    def taken_after(days: int, **kept: timedelta | None) -> int:
        by_issuer = {provider.issuer: kept["here"]} if "here" in kept else {}
        later = timezone.now() + timedelta(days=days)
        return take_what_lapsed(later, by_issuer, otherwise=timedelta(days=60))

    kept = timedelta(days=30)
    assert taken_after(29, here=kept) == 0
    assert taken_after(31, here=None) == 0
    assert taken_after(59) == 0
    assert taken_after(31, here=kept) == 1
    assert (places(), User.objects.get().is_superuser) == ({}, False)
    assert taken_after(31, here=kept) == 0
    sign_in(client, provider)
    assert taken_after(61) == 1  # of a provider that is not set up any more
    sign_in(client, provider)
    assert (places(), User.objects.get().is_superuser) == ({"vision": "member"}, True)
