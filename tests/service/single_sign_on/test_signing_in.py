"""Who gets in by a real identity provider, and whom do its answers not prove?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from tenancy.models import AuditEntry, Membership, ProviderIdentity, Team
from tenancy.single_sign_on import provider as the_way

from tests.identity_provider import RunningProvider
from tests.service.at_once import ask_at_once
from tests.service.single_sign_on.conftest import (
    ADA,
    TERMS,
    come_back,
    finish,
    set_up,
    sign_in,
    who,
)

pytestmark = pytest.mark.usefixtures("teams")
BEGIN = "/sign-in/provider"


def problem(address: str) -> str:
    parts = urlsplit(address)
    assert parts.path == "/login", address
    return parse_qs(parts.query)["problem"][0]


def test_a_person_of_a_group_gets_an_account_a_role_and_the_page_they_wanted(
    provider: RunningProvider, client: Client
) -> None:
    assert sign_in(client, provider, next="/jobs?state=running") == "/jobs?state=running"
    assert who(client) == "ada"
    person = User.objects.get(username="ada")
    assert not person.has_usable_password()
    assert person.provider_identity.subject == "sub-ada"
    place = Membership.objects.get(user=person)
    assert (place.team.name, place.role, place.from_provider) == ("vision", "member", True)
    entry = AuditEntry.objects.get(operation="sign_in_by_provider")
    assert (entry.outcome, entry.sender, entry.person_id) == ("done", "ada", person.pk)
    assert entry.after["is_new"] is True
    assert entry.after["vision"] == "member"
    assert entry.after["subject"] == "sub-ada"


def test_the_way_there_has_a_proof_key_a_state_and_a_nonce_and_its_cookie_is_for_us_alone(
    provider: RunningProvider, client: Client
) -> None:
    begun = client.get(BEGIN)
    asked = parse_qs(urlsplit(begun["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["state"][0]) >= 32
    assert len(asked["nonce"][0]) >= 32
    (cookie,) = [one for name, one in client.cookies.items() if name.endswith("_provider")]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/sign-in/"
    assert asked["state"][0] not in client.session


def test_a_visitor_on_the_way_costs_no_row(
    provider: RunningProvider, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(BEGIN)  # what the provider says of itself is known now
    with django_assert_num_queries(0):
        client.get(BEGIN)


def test_signing_in_again_costs_a_few_statements(
    provider: RunningProvider, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sign_in(client, provider)
    back = come_back(Client(), provider, "sub-ada")  # of another browser: it is not let in
    assert problem(finish(client, back)) == "sign_in_interrupted"
    again = Client()
    back = come_back(again, provider, "sub-ada")
    with django_assert_num_queries(14):
        assert finish(again, back) == "/"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        *((one, "answer_invalid") for one in ("nonce", "no_nonce", "audience", "issuer")),
        *((one, "answer_invalid") for one in ("expired", "signature", "unsigned", "no_token")),
        ("no_subject", "answer_invalid"),
        ("huge", "provider_away"),
        ("away", "provider_away"),
    ],
)
def test_an_answer_that_proves_nothing_lets_nobody_in(
    fault: str, code: str, provider: RunningProvider, client: Client
) -> None:
    back = come_back(client, provider, "sub-ada", next="/jobs")
    provider.has(fault=fault)
    assert problem(finish(client, back)) == code
    assert who(client) is None
    assert not User.objects.exists()
    entry = AuditEntry.objects.get(operation="sign_in_by_provider")
    assert (entry.outcome, entry.after["why"]) == ("refused", code)


def test_a_code_lets_in_once(provider: RunningProvider, client: Client) -> None:
    back = come_back(client, provider, "sub-ada")
    kept = {name: one.value for name, one in client.cookies.items()}
    assert finish(client, back) == "/"
    thief = Client()
    assert problem(finish(thief, back)) == "sign_in_interrupted"
    for name, value in kept.items():
        thief.cookies[name] = value
    assert problem(finish(thief, back)) == "answer_invalid"
    assert who(thief) is None


def _without_cookie(client: Client, back: str) -> str:
    client.cookies.clear()
    return back


def _another_state(client: Client, back: str) -> str:
    parts = urlsplit(back)
    asked = {name: one[0] for name, one in parse_qs(parts.query).items()}
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode({**asked, 'state': 'x'})}"


def _too_late(client: Client, back: str) -> str:
    name = next(one for one in client.cookies if one.endswith("_provider"))
    client.cookies[name] = client.cookies[name].value[:-1] + "!"
    return back


@pytest.mark.parametrize("spoil", [_without_cookie, _another_state, _too_late])
def test_an_answer_to_what_this_browser_never_asked_lets_nobody_in(
    spoil: Callable[[Client, str], str], provider: RunningProvider, client: Client
) -> None:
    back = spoil(client, come_back(client, provider, "sub-ada"))
    provider.has()
    assert problem(finish(client, back)) == "sign_in_interrupted"
    assert provider.asked().get("/token", 0) == 0  # nothing was asked for it


def test_who_goes_back_at_the_provider_is_told_so(
    provider: RunningProvider, client: Client
) -> None:
    back = come_back(client, provider, "nobody-that-it-knows")
    assert problem(finish(client, back)) == "provider_said_no"


def test_groups_may_be_told_apart_from_the_token(provider: RunningProvider, client: Client) -> None:
    provider.has(fault="groups_elsewhere")
    assert sign_in(client, provider) == "/"
    assert provider.asked()["/me"] == 1
    assert Membership.objects.get().team.name == "vision"


@pytest.mark.parametrize(
    "wanted",
    [
        *("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"),
        *("jobs", "/login?next=/", "/sign-in/provider", "/" + "a" * 2000),
        *("/\t/evil.example", "/\n/evil.example", "///evil.example", "/" + "\u00e9" * 900),
    ],
)
def test_nobody_is_sent_elsewhere(wanted: str, provider: RunningProvider, client: Client) -> None:
    assert sign_in(client, provider, next=wanted) == "/"


def test_a_name_or_a_mail_address_opens_nobody_elses_account(
    provider: RunningProvider, client: Client, vision: Team
) -> None:
    local = User.objects.create_user("Ada", email="ada@example.com", password="a long password")
    Membership.objects.create(team=vision, user=local, role="lead")
    provider.has(
        {
            "sub-ada": {**ADA, "groups": ["ml"]},
            "sub-other": {**ADA, "groups": ["text"]},
        }
    )
    sign_in(client, provider)
    assert who(client) == "ada-2"
    other = Client()
    sign_in(other, provider, "sub-other")
    assert who(other) == "ada-3"
    assert Membership.objects.get(user=local).role == "lead"
    assert not ProviderIdentity.objects.filter(person=local).exists()


@pytest.mark.django_db(transaction=True)
def test_who_comes_by_two_browsers_at_once_for_the_first_time_gets_one_account(
    provider: RunningProvider,
) -> None:
    browsers = Client(), Client()
    first, second = (come_back(one, provider, "sub-ada") for one in browsers)
    ended = ask_at_once(lambda: finish(browsers[0], first), lambda: finish(browsers[1], second))
    assert ended == ("/", "/")
    assert [who(one) for one in browsers] == ["ada", "ada"]
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_who_would_like_the_same_name_at_once_get_one_each(
    provider: RunningProvider,
) -> None:
    provider.has({one: {**ADA, "groups": ["ml"]} for one in ("sub-ada", "sub-other")})
    browsers = Client(), Client()
    first = come_back(browsers[0], provider, "sub-ada")
    second = come_back(browsers[1], provider, "sub-other")
    ended = ask_at_once(lambda: finish(browsers[0], first), lambda: finish(browsers[1], second))
    assert ended == ("/", "/")
    assert [who(one) for one in browsers] == ["ada", "ada-2"]


def test_a_name_that_grows_in_small_letters_is_cut_again(
    provider: RunningProvider, client: Client
) -> None:
    provider.has({"sub-ada": {"preferred_username": "\u0130" * 100, "groups": ["ml"]}})
    assert sign_in(client, provider) == "/"
    assert User.objects.get().username == "i\u0307" * 50


def test_an_admin_joins_an_account_to_a_person_of_the_provider(
    provider: RunningProvider, client: Client, vision: Team, admin_client: Client
) -> None:
    local = User.objects.create_user("ada", password="a long password")
    Membership.objects.create(team=vision, user=local, role="viewer")
    made = admin_client.post(
        "/admin/tenancy/provideridentity/add/",
        {"person": local.pk, "issuer": provider.issuer, "subject": "sub-ada"},
    )
    assert made.status_code == 302, made.content
    sign_in(client, provider)
    assert who(client) == "ada"
    assert Membership.objects.get(user=local).role == "viewer"  # as people gave it


def test_a_session_ends_with_the_hours_that_a_confirmation_holds(
    provider: RunningProvider, client: Client
) -> None:
    before = timezone.now()
    sign_in(client, provider)
    ends_at = client.session.get_expiry_date()
    assert before <= ends_at - timedelta(hours=12) <= timezone.now()
    changed = client.session
    changed["something"] = "else"  # as pages of the administration do
    changed.save()
    assert Session.objects.get().expire_date == ends_at
    client.delete("/api/v1/session")
    assert who(client) is None


def test_what_the_provider_says_of_itself_is_asked_once(
    provider: RunningProvider, client: Client
) -> None:
    the_way.provider_of.cache_clear()
    provider.has()
    for _ in range(3):
        sign_in(Client(), provider)
    asked = provider.asked()
    assert asked["/.well-known/openid-configuration"] == 1
    assert asked["/jwks"] == 1
    assert asked["/token"] == 3


def test_without_a_provider_there_is_none(client: Client, db: None) -> None:
    assert problem(client.get(BEGIN)["Location"]) == "provider_off"
    assert problem(client.get(f"{BEGIN}/callback")["Location"]) == "provider_off"
    assert client.get("/api/v1/sign-in-methods").json() == {"provider": None, "proxy": None}
    assert client.post(BEGIN).status_code == 405
    assert client.get("/sign-in/elsewhere").status_code == 404


def test_the_sign_in_page_learns_of_it(provider: RunningProvider, client: Client) -> None:
    told = client.get("/api/v1/sign-in-methods").json()
    assert told == {"provider": {"name": "Example", "address": BEGIN}, "proxy": None}


def test_a_provider_that_is_somebody_else_is_not_asked_for_anything(
    provider: RunningProvider, client: Client, settings: Settings
) -> None:
    settings.CONCERTINA = settings.CONCERTINA
    set_up(
        settings, RunningProvider(provider.issuer.replace("127.0.0.1", "localhost"), None), TERMS
    )  # type: ignore[arg-type]
    assert problem(client.get(BEGIN)["Location"]) == "provider_away"
    told = AuditEntry.objects.get(operation="sign_in_by_provider").after["more"]
    assert "use that as the issuer" in told


def test_who_tries_again_and_again_waits(provider: RunningProvider, client: Client) -> None:
    for _ in range(60):
        client.get(f"{BEGIN}/callback")
    assert problem(client.get(f"{BEGIN}/callback")["Location"]) == "too_many_requests"
    entries = AuditEntry.objects.filter(operation="sign_in_by_provider")
    assert entries.count() == 2  # counted together, those of a kind
    assert client.get(BEGIN)["Location"].startswith(provider.issuer)  # which counts by itself
