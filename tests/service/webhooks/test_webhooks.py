"""Are /webhooks as promised: who is told, who says so, and how what was sent went?"""

from __future__ import annotations

import logging
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.access.permissions import LEAD, MEMBER
from tenancy.models import Team
from webhooks import hooks, secrets
from webhooks.errors import WebhookNotFound
from webhooks.models import Webhook, WebhookDelivery

from tests.service.access.test_roles import client, person
from tests.service.conftest import SubmitJob
from tests.service.webhooks.conftest import fill, tell
from tests.service.webhooks.receiver import Receiver

URL: Final = "/api/v1/webhooks"
SECRET_PLACE: Final = "T0KEN-that-lets-anybody-in"
PLACE: Final = f"https://hooks.example.com/{SECRET_PLACE}"


@pytest.fixture
def lead(vision: Team) -> APIClient:
    return client(person("carl", vision=LEAD))


@pytest.fixture
def root(admin_user: User) -> APIClient:
    return client(admin_user)


def body(**words: Any) -> dict[str, Any]:
    return {"team": "vision", "name": "alarms", "url": PLACE, **words}


def added(api: APIClient, **words: Any) -> dict[str, Any]:
    answer = api.post(URL, body(**words), format="json")
    assert answer.status_code == 201, answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


def refused(api: APIClient, **words: Any) -> tuple[int, str]:
    answer = api.post(URL, body(**words), format="json")
    return answer.status_code, answer.json()["code"]


def listed(api: APIClient, **query: Any) -> list[tuple[str | None, str]]:
    answer = api.get(URL, query)
    assert answer.status_code == 200, answer.json()
    return [(one["team"], one["name"]) for one in answer.json()["items"]]


def test_a_lead_adds_one_whose_key_and_address_are_shown_to_nobody_later(
    lead: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        made = added(lead, kinds=["state_changed"], states=["failed"])
    assert made["key"].startswith("whsec_")
    assert made["url"] == "https://hooks.example.com/…"
    (row,) = lead.get(URL).json()["items"]
    assert row == {name: value for name, value in made.items() if name != "key"}
    kept = Webhook.objects.get()
    assert secrets.open_target(kept).url == PLACE
    assert (SECRET_PLACE in kept.sealed, SECRET_PLACE in caplog.text) == (False, False)


def test_who_may_change_one_sees_it(
    lead: APIClient, root: APIClient, api: APIClient, language: Team
) -> None:
    added(lead)
    added(root, team=None, name="everything")
    added(root, team="language", name="theirs")
    assert listed(lead) == [("vision", "alarms")]
    assert sorted(listed(root), key=str) == [
        ("language", "theirs"),
        ("vision", "alarms"),
        (None, "everything"),
    ]
    assert listed(root, team="vision") == [("vision", "alarms")]
    assert listed(api) == listed(client(person("ada", vision=MEMBER))) == []


def test_only_admins_are_told_of_all_teams(lead: APIClient, root: APIClient) -> None:
    assert refused(lead, team=None) == (403, "permission_denied")
    number = added(root, team=None)["id"]
    for answer in (lead.delete(f"{URL}/{number}"), lead.get(f"{URL}/{number}/deliveries")):
        assert answer.status_code == 404


def test_a_name_is_used_once_and_so_many_may_be(
    lead: APIClient, root: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(lead)
    assert refused(lead) == (409, "name_in_use")
    added(root, team=None)
    assert refused(root, team=None) == (409, "name_in_use")
    monkeypatch.setattr(hooks, "MOST_OF_TEAM", 1)
    assert refused(lead, name="another") == (409, "too_many_webhooks")


@pytest.mark.parametrize(
    "words",
    [
        *({"url": url} for url in ("x", "ftp://a.b/c", "https://", "https://a b/", "https://a/#x")),
        *({"url": url} for url in ("https://me:you@a.b/", "https://a:x/", "https://[::1", 7)),
        *({"name": "A"}, {"kinds": ["no"]}, {"states": ["no"]}, {"shape": "no"}, {"kinds": "idle"}),
        {"url": "https://a.b/" + "x" * hooks.LONGEST_URL},
    ],
    ids=str,
)
def test_what_is_wrong_is_refused(words: dict[str, Any], lead: APIClient) -> None:
    assert refused(lead, **words)[0] == 400
    assert Webhook.objects.count() == 0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.b", "https://a.b"),
        ("https://A.b:8443/", "https://a.b:8443"),
        ("http://[fd12::7]:9000/x?y=z", "http://[fd12::7]:9000/…"),
        ("https://a.b?token=x", "https://a.b/…"),
    ],
)
def test_of_an_address_the_host_is_shown(url: str, shown: str) -> None:
    assert hooks.shown_url(url, "json") == shown


def test_it_can_be_changed_switched_off_and_deleted(lead: APIClient, submit: SubmitJob) -> None:
    number = added(lead)["id"]
    changed = lead.patch(f"{URL}/{number}", {"kinds": ["idle"]}, format="json").json()
    assert (changed["kinds"], changed["is_enabled"]) == (["idle"], True)
    lead.patch(f"{URL}/{number}", {"is_enabled": False, "kinds": []}, format="json")
    submit()
    fill()
    assert WebhookDelivery.objects.count() == 0
    assert lead.post(f"{URL}/{number}/test").json()["code"] == "webhook_off"
    lead.patch(f"{URL}/{number}", {"is_enabled": True}, format="json")
    assert lead.post(f"{URL}/{number}/test").status_code == 202
    assert lead.delete(f"{URL}/{number}").status_code == 204
    assert (Webhook.objects.count(), WebhookDelivery.objects.count()) == (0, 0)
    assert lead.delete(f"{URL}/{number}").status_code == 404


def test_what_is_removed_meanwhile_is_not_found(lead: APIClient) -> None:
    added(lead)
    webhook = Webhook.objects.get()
    hooks.remove(Webhook.objects.get(), by="ada")
    with pytest.raises(WebhookNotFound):
        hooks.change(webhook, {"is_enabled": False}, by="ada")


def test_a_lead_tries_it_and_sees_how_that_went(lead: APIClient, receiver: Receiver) -> None:
    receiver.answers["/hook"] = 404
    number = added(lead, url=receiver.url + "/hook")["id"]
    made = lead.post(f"{URL}/{number}/test").json()
    tell()
    (row,) = lead.get(f"{URL}/{number}/deliveries").json()["items"]
    assert (row["id"], row["kind"], row["state"], row["attempts"]) == (
        *(made["id"], "test"),
        *("waiting", 1),
    )
    assert (row["tries"][0]["status"], row["tries"][0]["problem"]) == (404, "It answered 404.")
    (hook,) = lead.get(URL).json()["items"]
    assert (hook["failures"], hook["rests_until"] is not None) == (1, True)


def test_deliveries_come_a_page_at_a_time(lead: APIClient, submit: SubmitJob) -> None:
    number = added(lead)["id"]
    for job in range(5):
        submit(name=f"job-{job}")
    fill()
    found, before = [], {}
    while True:
        page = lead.get(f"{URL}/{number}/deliveries", {"limit": 2, **before}).json()
        found += [one["event_id"] for one in page["items"]]
        if not page["has_more"]:
            break
        before = {"before": page["items"][-1]["id"]}
    assert len(set(found)) == len(found) == 5
    assert lead.get(f"{URL}/{number}/deliveries", {"state": "dead"}).json()["items"] == []
    unknown = {"before": "00000000-0000-4000-8000-000000000000"}
    assert lead.get(f"{URL}/{number}/deliveries", unknown).status_code == 400


def test_what_was_delivered_is_sent_again_when_somebody_asks(
    lead: APIClient, submit: SubmitJob, receiver: Receiver
) -> None:
    number = added(lead, url=receiver.url + "/hook")["id"]
    submit()
    assert tell() == 1
    (row,) = lead.get(f"{URL}/{number}/deliveries", {"state": "delivered"}).json()["items"]
    again = lead.post(f"{URL}/{number}/deliveries/{row['id']}/replay")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    assert tell() == 1
    assert {one.id for one in receiver.received} == {row["id"]}
    missing = f"{URL}/{number}/deliveries/00000000-0000-4000-8000-000000000000/replay"
    assert lead.post(missing).status_code == 404


def test_under_a_new_key_webhooks_are_sealed_anew(lead: APIClient) -> None:
    added(lead)
    before = Webhook.objects.get().sealed
    assert secrets.reseal_all() == (1, [])
    after = Webhook.objects.get()
    assert after.sealed != before
    assert secrets.open_target(after).url == PLACE
