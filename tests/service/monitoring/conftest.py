"""An installation with a key for metrics."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from tests.service.monitoring.scraped import KEY


@pytest.fixture(autouse=True)
def key_for_metrics(settings: Settings) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, metrics_keys=(KEY,))
