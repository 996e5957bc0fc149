"""What `/metrics` answers, as a scraper reads it."""

from __future__ import annotations

from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

KEY: Final = "a-key-of-monitoring-for-tests"


def scraper() -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {KEY}")
    return client


def scrape(client: APIClient | None = None) -> dict[str, float]:
    """Every series by its name and labels, as `name{label=value,…}`."""
    answer = (client or scraper()).get("/metrics")
    assert answer.status_code == 200, answer.content
    return {
        series(sample.name, **sample.labels): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def series(name: str, **labels: str) -> str:
    written = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
    return f"{name}{{{written}}}" if labels else name
