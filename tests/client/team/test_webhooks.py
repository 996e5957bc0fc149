"""Are `concertina webhooks …` as promised?"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from tenancy.models import Membership, Team
from webhooks.models import Webhook, WebhookDelivery

from tests.client.command_line import CommandLine

PASSWORD = "a long password"
AS_LEAD = ("--as", "tina")
URL = "https://hooks.example.com/secret"


@pytest.fixture(autouse=True)
def lead(token_of: dict[str, str]) -> User:
    made = User.objects.create_user("tina", password=PASSWORD)
    Membership.objects.create(user=made, team=Team.objects.get(name="vision"), role="lead")
    return made


def test_a_lead_adds_tries_and_deletes_one(concertina: CommandLine) -> None:
    narrowed = ("--kind", "state_changed", "--kind", "idle", "--state", "failed")
    made = concertina(
        "webhooks", "add", "alarms", URL, *AS_LEAD, "--team", "vision", *narrowed, stdin=PASSWORD
    )
    assert made.exit_code == 0, made.err
    assert made.out.startswith("whsec_")
    assert "shown this once" in made.err
    assert Webhook.objects.get().kinds == ["state_changed", "idle"]
    head, row = concertina("webhooks", "ls", *AS_LEAD, stdin=PASSWORD).out.splitlines()
    assert head.split()[:3] == ["ID", "TEAM", "NAME"]
    assert "hooks.example.com" in row
    assert "state_changed, idle (failed)" in row
    assert "secret" not in row
    tried = concertina("webhooks", "test", "alarms", *AS_LEAD, "-o", "json", stdin=PASSWORD)
    number = tried.document["id"]
    WebhookDelivery.objects.update(
        state="dead",
        attempts=1,
        tries=[{"at": "2026-11-28T12:00:00Z", "seconds": 1, "status": 500, "problem": "Not so."}],
    )
    listed = concertina(
        "webhooks", "deliveries", "alarms", *AS_LEAD, "--state", "dead", stdin=PASSWORD
    ).out
    assert (number[:8] in listed, "Not so." in listed) == (True, True)
    again = concertina("webhooks", "replay", "alarms", number, *AS_LEAD, stdin=PASSWORD)
    assert (again.exit_code, WebhookDelivery.objects.get().state) == (0, "waiting"), again.err
    none = concertina(
        "webhooks", "deliveries", "alarms", *AS_LEAD, "--state", "dead", stdin=PASSWORD
    )
    assert "Nothing was sent." in none.err
    gone = concertina("webhooks", "rm", "alarms", *AS_LEAD, stdin=PASSWORD)
    assert (gone.out, Webhook.objects.count()) == ("Webhook alarms is deleted.\n", 0)
    empty = concertina("webhooks", "ls", *AS_LEAD, stdin=PASSWORD)
    assert "No webhooks." in empty.err


def test_mail_has_no_key_and_may_be_for_jobs_that_ask_for_it(
    concertina: CommandLine, job_file: Path
) -> None:
    mail = ("webhooks", "add", "mails", "mailto:ml-team@example.com", "--on-request")
    made = concertina(*mail, "--shape", "mail", *AS_LEAD, "--team", "vision", stdin=PASSWORD)
    assert made.exit_code == 0, made.err
    assert made.out == "Webhook mails is told what jobs that name it say from now on.\n"
    job_file.write_text(f"{job_file.read_text()}\nnotify:\n  to: [mails]\n  on: [failed]\n")
    submitted = concertina("submit", "-f", job_file)
    assert submitted.exit_code == 0, submitted.err
    job_file.write_text(job_file.read_text().replace("[mails]", "[letters]"))
    refused = concertina("submit", "-f", job_file)
    assert (refused.exit_code, "Use one of: mails" in refused.err) == (3, True)
    wrong = concertina(*mail, *AS_LEAD, "--team", "vision", stdin=PASSWORD)
    assert "takes the shape `mail`" in wrong.err


def test_a_name_that_is_none_and_a_token_are_refused_in_words(concertina: CommandLine) -> None:
    missing = concertina("webhooks", "test", "nobody", *AS_LEAD, stdin=PASSWORD)
    assert (missing.exit_code, "no webhook 'nobody'" in missing.err) == (4, True)
    refused = concertina("webhooks", "add", "alarms", URL)
    assert (refused.exit_code, "Only leads of team vision" in refused.err) == (5, True)
    all_teams = concertina("webhooks", "add", "a", URL, "--all-teams", *AS_LEAD, stdin=PASSWORD)
    assert (all_teams.exit_code, "Only admins" in all_teams.err) == (5, True)


def test_a_name_of_two_teams_needs_an_id(concertina: CommandLine, lead: User) -> None:
    other = Team.objects.create(name="other")
    Membership.objects.create(user=lead, team=other, role="lead")
    for team in ("vision", "other"):
        concertina("webhooks", "add", "alarms", URL, *AS_LEAD, "--team", team, stdin=PASSWORD)
    unclear = concertina("webhooks", "rm", "alarms", *AS_LEAD, stdin=PASSWORD)
    assert (unclear.exit_code, "Give an id" in unclear.err) == (2, True)
    clear = concertina("webhooks", "rm", "alarms", "--team", "other", *AS_LEAD, stdin=PASSWORD)
    assert clear.exit_code == 0, clear.err
    number = Webhook.objects.get(team__name="vision").pk
    assert concertina("webhooks", "rm", str(number), *AS_LEAD, stdin=PASSWORD).exit_code == 0
