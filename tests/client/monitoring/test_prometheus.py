"""Does a real Prometheus read a running api, and does it take our rules?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import httpx
import yaml
from django.utils import timezone

from autoscaler.gpu_accounts.models import AccountsClock
from tests.client.command_line import CommandLine
from tests.client.monitoring.programs import RunningPrometheus, promtool, running_prometheus
from tests.client.running_api import METRICS_KEY, ROOT, RunningApi
from tests.polling import pause

FILES: Final = ROOT / "docs" / "monitoring"
PATIENCE_SECONDS: Final = 240.0  # however busy the machine is
EXPECTED: Final = {
    'sum(concertina_jobs{state="queued"})': 1,
    "sum(concertina_gpus)": 4,
    'concertina_gpus_guaranteed{pool="default",team="vision"}': 2,
    'max_over_time(up{job="concertina"}[5m])': 1,
}


def test_promtool_finds_nothing_to_complain_about_in_what_is_exposed(
    api: RunningApi, concertina: CommandLine, job_file: Path
) -> None:
    assert concertina("submit", "-f", job_file).exit_code == 0
    answer = httpx.get(
        f"{api.url}/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"}, timeout=60
    ).raise_for_status()
    assert b"concertina_jobs{" in answer.content
    promtool("check", "metrics", told=answer.content)


def test_the_rules_and_the_configuration_are_what_prometheus_takes() -> None:
    promtool("check", "rules", str(FILES / "rules.yml"))


def test_each_alert_fires_when_it_should_and_none_does_when_all_is_well() -> None:
    promtool("test", "rules", str(FILES / "rules_test.yml"))
    tried = yaml.safe_load((FILES / "rules_test.yml").read_text())["tests"][1]
    fired = {one["labels"] for one in tried["promql_expr_test"][0]["exp_samples"]}
    rules = yaml.safe_load((FILES / "rules.yml").read_text())["groups"][0]["rules"]
    assert fired == {f'{{alertname="{rule["alert"]}"}}' for rule in rules}


def test_prometheus_reads_the_api_with_the_configuration_of_the_guide(
    api: RunningApi, concertina: CommandLine, job_file: Path, tmp_path: Path
) -> None:
    assert concertina("submit", "-f", job_file).exit_code == 0
    AccountsClock.objects.create(pk=1, at=timezone.now())
    with running_prometheus(_configuration(api, tmp_path), tmp_path) as prometheus:
        for expression, value in EXPECTED.items():
            _wait_until(prometheus, expression, value)


def _configuration(api: RunningApi, folder: Path) -> Path:
    """The one of the guide, for this api, asked more often."""
    told = yaml.safe_load((FILES / "prometheus.yml").read_text())
    told["global"] |= {"scrape_interval": "3s"}
    told["rule_files"] = [str(FILES / name) for name in told["rule_files"]]
    (scrape,) = told["scrape_configs"]
    assert scrape["authorization"] == {"credentials_file": "concertina.key"}
    (folder / "concertina.key").write_text(f"{METRICS_KEY}\n")
    scrape |= {"scheme": "http", "static_configs": [{"targets": [api.url.removeprefix("http://")]}]}
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(told))
    promtool("check", "config", str(file))
    return file


def _wait_until(prometheus: RunningPrometheus, expression: str, value: float) -> None:
    """Wait until it has read this; a scrape may come too late, and then the next one has it."""
    began = time.monotonic()
    while (seen := prometheus.value(expression)) != value:
        waited = time.monotonic() - began
        assert waited < PATIENCE_SECONDS, (expression, seen, prometheus.problem())
        pause(began)
