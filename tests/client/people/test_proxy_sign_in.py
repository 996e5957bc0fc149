"""Does the real api believe a proxy's header from its address alone, over real connections?"""

from __future__ import annotations

import httpx
from django.contrib.auth.models import User
from tenancy.models import AuditEntry, Membership

from tests.client.running_api import PROXY, RunningApi

ADA = {"X-Auth-Request-User": "ada", "X-Auth-Request-Groups": "ml,others"}


def browser(api: RunningApi, address: str, headers: dict[str, str] | None = None) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=api.url, transport=transport, headers=headers, timeout=60)


def who(client: httpx.Client) -> str | None:
    answer = client.get("/api/v1/session")
    return answer.json()["user"]["username"] if answer.status_code == 200 else None


def test_only_the_proxy_says_who_somebody_is(api: RunningApi) -> None:
    with browser(api, "127.0.0.1", {**ADA, "X-Forwarded-For": PROXY}) as stranger:
        assert stranger.get("/api/v1/sign-in-methods").json()["proxy"] is None
        refused = stranger.get("/sign-in/proxy")
        assert refused.headers["Location"] == "/login?problem=nobody_vouched"
        assert who(stranger) is None
    assert not User.objects.exists()
    with browser(api, PROXY, ADA) as ada:
        assert ada.get("/api/v1/sign-in-methods").json()["proxy"]["name"] == "ada"
        assert who(ada) is None  # a header alone is no session
        assert ada.get("/sign-in/proxy?next=/jobs").headers["Location"] == "/jobs"
        assert who(ada) == "ada"
        cookies = dict(ada.cookies)
    place = Membership.objects.get()
    assert (place.team.name, place.role, place.from_provider) == ("vision", "member", True)
    entry = AuditEntry.objects.get(operation="sign_in_by_proxy", outcome="done")
    assert (entry.sender, entry.target) == ("ada", "proxy")
    with browser(api, "127.0.0.1", ADA) as around:
        around.cookies.update(cookies)
        assert who(around) is None  # and the session has ended
    with browser(api, PROXY, ADA) as ada:
        ada.cookies.update(cookies)
        assert who(ada) is None


def test_a_session_ends_when_the_proxy_names_somebody_else_or_nobody(api: RunningApi) -> None:
    with browser(api, PROXY) as client:
        for then in ({**ADA, "X-Auth-Request-User": "eve"}, {}):
            client.get("/sign-in/proxy", headers=ADA)
            assert client.get("/api/v1/session", headers=ADA).status_code == 200
            assert client.get("/api/v1/session", headers=then).status_code == 401
        refused = client.get("/sign-in/proxy", headers={**ADA, "X-Auth-Request-Groups": "none"})
        assert refused.headers["Location"] == "/login?problem=not_in_a_group"
