"""Does the task of `io` tell webhooks what happened, by the installation's rules?"""

from __future__ import annotations

from dataclasses import replace

from control_plane.queries.webhook_reach import webhook_reach
from control_plane.tasks import tell_webhooks
from django.conf import settings as django_settings
from pytest_django import Settings
from storage.data.destinations import Destination
from tenancy.models import Team
from webhooks.models import WebhookDelivery

from jobs.models import Event, Job
from tests.service.webhooks.conftest import add
from tests.service.webhooks.receiver import Receiver


def test_the_task_tells_what_happened(
    vision: Team, job: Job, receiver: Receiver, settings: Settings
) -> None:
    add(vision, receiver.url + "/hook")
    Event.objects.create(job=job, kind="idle")
    tell_webhooks()
    (row,) = WebhookDelivery.objects.all()
    assert (receiver.received, row.attempts) == ([], 1)
    assert "CONCERTINA_WEBHOOK_NETWORKS" in row.tries[0]["problem"]
    WebhookDelivery.objects.update(due_at=row.created_at)
    row.webhook.rests_until = None
    row.webhook.save()
    networks = (Destination.parse("127.0.0.1"),)
    settings.CONCERTINA = replace(django_settings.CONCERTINA, webhook_networks=networks)
    tell_webhooks()
    assert [one.id for one in receiver.received] == [str(row.pk)]
    assert WebhookDelivery.objects.get().state == "delivered"


def test_the_api_itself_is_never_called(settings: Settings) -> None:
    networks = (Destination.parse("0.0.0.0/0"),)
    settings.CONCERTINA = replace(
        django_settings.CONCERTINA,
        webhook_networks=networks,
        service_url="http://127.0.0.1:8000",
    )
    rules = webhook_reach()
    for reach in (rules.plain, rules.encrypted):
        assert reach.why_not("127.0.0.1", 8000)
        assert not reach.why_not("127.0.0.1", 8001)
