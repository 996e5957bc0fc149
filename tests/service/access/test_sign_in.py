"""Is guessing passwords slow everywhere, and does it keep nobody out who knows theirs?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy import sign_in
from tenancy.access.addresses import address_of
from tenancy.buckets import LocalBuckets, SharedBuckets, TokenBucket, TokensTaken
from tenancy.sign_in import Attempt, TooManyAttempts

PASSWORD = "correct horse"
AT_ONCE = 10


class Frozen:
    """Buckets and notes whose time stands still."""

    def __init__(self) -> None:
        self._local = LocalBuckets(lambda: 0.0)
        self._notes: set[str] = set()

    def take(self, buckets: Sequence[TokenBucket]) -> TokensTaken:
        return self._local.take(buckets)

    def forget(self, key: str) -> None:
        self._local.forget(key)

    def remember(self, key: str, *, seconds: int) -> None:  # noqa: ARG002 - as the real one
        self._notes.add(key)

    def remembers(self, key: str) -> bool:
        return key in self._notes


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> Frozen:
    made = Frozen()
    monkeypatch.setattr(sign_in, "buckets", lambda: made)
    return made


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_superuser("ada", password=PASSWORD)


def over_rest(password: str, *, name: str = "ada", address: str = "192.0.2.1") -> int:
    answer = Client().post(
        "/api/v1/session",
        {"username": name, "password": password},
        content_type="application/json",
        REMOTE_ADDR=address,
    )
    return answer.status_code


def over_the_form(password: str) -> str:
    answer = Client().post(
        "/admin/login/", {"username": "ada", "password": password}, REMOTE_ADDR="192.0.2.1"
    )
    return "in" if answer.status_code == 302 else answer.content.decode()


def test_the_form_of_the_admin_site_and_the_api_count_together(ada: User) -> None:
    for number in range(AT_ONCE // 2):
        assert over_rest(str(number)) == 401
        assert "correct username and password" in over_the_form(str(number))
    assert over_rest(PASSWORD) == 429
    assert "Try again in 60 s" in over_the_form(PASSWORD)


def test_a_refusal_tells_when_to_try_again(ada: User) -> None:
    for number in range(AT_ONCE):
        over_rest(str(number), address="127.0.0.1")
    answer = APIClient().post(
        "/api/v1/session", {"username": "ada", "password": PASSWORD}, format="json"
    )
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_requests")
    assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert f"Try again in {answer.headers['Retry-After']} s" in answer.json()["message"]


def test_a_guesser_elsewhere_keeps_nobody_out(ada: User) -> None:
    codes = [over_rest(str(number), address="198.51.100.7") for number in range(60)]
    assert codes == [401] * AT_ONCE + [429] * 50
    assert over_rest(PASSWORD) == 200


def test_guessers_everywhere_slow_a_name_down_but_not_where_it_is_known(ada: User) -> None:
    assert over_rest(PASSWORD) == 200
    codes = [over_rest("wrong", address=f"198.51.100.{number}") for number in range(40)]
    assert codes == [401] * 29 + [429] * 11  # the first sign-in took one, too
    assert over_rest(PASSWORD, address="203.0.113.5") == 429
    assert over_rest(PASSWORD) == 200


def test_a_guesser_of_many_names_at_an_address_keeps_nobody_out_who_is_known_there(
    ada: User,
) -> None:
    assert over_rest(PASSWORD) == 200
    codes = [over_rest("wrong", name=f"user-{number}") for number in range(80)]
    assert codes == [401] * 59 + [429] * 21
    assert over_rest("wrong", name="ada") == 401
    assert over_rest(PASSWORD) == 200


def test_the_right_password_makes_up_for_wrong_ones(ada: User) -> None:
    for _ in range(3):
        assert [over_rest("wrong") for _ in range(AT_ONCE - 1)] == [401] * (AT_ONCE - 1)
        assert over_rest(PASSWORD) == 200


def test_redis_counts_and_remembers(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SharedBuckets(settings.CONCERTINA.redis_url)
    monkeypatch.setattr(sign_in, "buckets", lambda: real)
    here = Attempt.of("ada", "192.0.2.1")
    assert over_rest("wrong") == 401
    assert not real.remembers(here._known)  # noqa: SLF001 - Redis alone knows
    assert over_rest(PASSWORD) == 200
    assert real.remembers(here._known)  # noqa: SLF001 - as above
    assert real.take([here._bounds(is_known=True)[0]]).remaining == AT_ONCE - 1  # noqa: SLF001


def test_without_redis_each_process_counts_for_itself(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = SharedBuckets("unix:///nowhere/at/all")
    monkeypatch.setattr(sign_in, "buckets", lambda: alone)
    assert [over_rest("wrong") for _ in range(AT_ONCE + 1)] == [401] * AT_ONCE + [429]


def test_made_up_addresses_count_only_where_a_proxy_of_ours_writes_them(
    ada: User, settings: Settings
) -> None:
    def guess(number: int) -> int:
        body = {"username": "ada", "password": "wrong"}
        headers = {"X-Forwarded-For": f"198.51.100.{number}"}
        client = Client(headers=headers)
        return client.post("/api/v1/session", body, content_type="application/json").status_code

    assert [guess(number) for number in range(AT_ONCE + 1)] == [401] * AT_ONCE + [429]
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NUM_PROXIES": 1}
    assert guess(99) == 401


def test_an_attempt_that_is_refused_takes_nothing_from_the_others(frozen: Frozen) -> None:
    attempts = [Attempt.of("ada", "here") for _ in range(50)]
    refused = 0
    for attempt in attempts:
        try:
            attempt.begin(frozen)
        except TooManyAttempts:
            refused += 1
    assert refused == 40
    Attempt.of("ada", "there").begin(frozen)


def test_names_of_any_length_and_case_are_one_name() -> None:
    assert Attempt.of("ADA", "here") == Attempt.of("ada", "here")
    assert len(Attempt.of("\ud800" * 100_000, "here").name) == 32


def test_a_network_of_ipv6_counts_as_one_address(db: None) -> None:
    def of(address: str) -> str:
        request = Client().get("/api/v1/health", REMOTE_ADDR=address).wsgi_request
        return address_of(request)

    assert of("2001:db8::1") == of("2001:db8::ffff") == "2001:db8::/64"
    assert of("192.0.2.1") == "192.0.2.1"
    assert address_of(None) == "nowhere"
