"""Can an admin read with which settings the installation runs, and no secret?"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from local_stack.checkout import ROOT

URL = "/api/v1/settings"


def test_an_admin_reads_what_each_setting_is_and_means(db: None) -> None:
    admin = Client()
    admin.force_login(User.objects.create_superuser("root"))
    items = {one["name"]: one for one in admin.get(URL).json()["items"]}
    assert items["CONCERTINA_KEEP_LOGS_DAYS"]["value"] == "90 days"
    assert items["CONCERTINA_KEEP_CODE_DAYS"]["value"] == "for ever"
    assert items["CONCERTINA_WORKER_HOST"]["value"] == "process"
    assert items["CONCERTINA_JOB_DISK_GB"]["value"] == "50 GiB"
    told = str(items)
    secret = (settings.CONCERTINA.secret_key, *settings.CONCERTINA.metrics_keys)
    hidden = (*secret, settings.CONCERTINA.database_url, settings.CONCERTINA.redis_url)
    assert not [one for one in hidden if one in told]


def test_each_setting_is_a_variable_that_the_documents_tell_of(db: None) -> None:
    admin = Client()
    admin.force_login(User.objects.create_superuser("root"))
    pages = [
        ROOT / "docs/operations" / name
        for name in ("configuration.md", "retention.md", "limits.md")
    ]
    documents = "".join(map(Path.read_text, pages))
    names = [one["name"] for one in admin.get(URL).json()["items"]]
    assert [name for name in names if f"{name}`" not in documents] == []


def test_nobody_else_reads_them(db: None) -> None:
    person = Client()
    person.force_login(User.objects.create_user("ada"))
    assert (person.get(URL).status_code, Client().get(URL).status_code) == (403, 401)
