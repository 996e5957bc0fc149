"""Do the dashboard, the rules and the guide speak of metrics that there are?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import yaml
from control_plane.api.monitoring.families import FAMILIES

from tests.client.monitoring.programs import promtool

DOCS: Final = Path(__file__).parents[3] / "docs"
GUIDE: Final = (DOCS / "operations/monitoring.md").read_text()
DASHBOARD: Final[dict[str, Any]] = json.loads((DOCS / "monitoring/grafana.json").read_text())
RULES: Final[list[dict[str, Any]]] = yaml.safe_load((DOCS / "monitoring/rules.yml").read_text())[
    "groups"
][0]["rules"]
PANELS: Final = [one for one in DASHBOARD["panels"] if one["type"] != "row"]
NAMES: Final = {one.name for one in FAMILIES}
LABELS: Final = {one.name: set(one.labels) for one in FAMILIES}


def expressions() -> Iterator[str]:
    """All of the dashboard, with values for what Grafana fills in, and of the rules."""
    for panel in PANELS:
        for target in panel["targets"]:
            filled = target["expr"].replace("$__rate_interval", "5m")
            yield filled.replace("$pool", ".*").replace("$team", ".*")
    yield from (rule["expr"] for rule in RULES)


def named(text: str) -> set[str]:
    return set(re.findall(r"\bconcertina_[a-z_]+\b", text))


def test_the_dashboard_and_the_rules_name_metrics_that_there_are() -> None:
    queries = [one.get("definition", "") for one in DASHBOARD["templating"]["list"]]
    used = set[str]().union(*map(named, [*expressions(), *queries]))
    assert used <= NAMES
    assert {one for one in NAMES - used if not one.startswith("concertina_gpus_open")} == set()


def test_labels_are_those_of_their_metrics() -> None:
    for expression in expressions():
        for name, labels in re.findall(r"(concertina_[a-z_]+)\{([^}]*)\}", expression):
            assert set(re.findall(r"([a-z_]+)=", labels)) <= LABELS[name], expression


def test_prometheus_can_read_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"tried:{number}", "expr": expression}
        for number, expression in enumerate(expressions())
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "tried", "rules": rules}]}))
    promtool("check", "rules", str(file))


def test_every_panel_says_what_it_shows_and_lies_beside_the_others() -> None:
    assert [one["title"] for one in PANELS if not one.get("description")] == []
    assert len({one["id"] for one in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = [(one["title"], one["gridPos"]) for one in DASHBOARD["panels"]]
    assert [title for title, place in places if place["x"] + place["w"] > 24] == []
    assert [
        (first, second)
        for (first, a), (second, b) in combinations(places, 2)
        if a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"]
        if a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]
    ] == []


def test_the_guide_has_every_alert_and_every_metric_with_its_meaning() -> None:
    alerts = re.findall(r"^\| `(Concertina\w+)` \|", GUIDE, re.MULTILINE)
    assert sorted(alerts) == sorted(rule["alert"] for rule in RULES)
    rows = re.findall(r"^\| `(concertina_\w+)` \| (.*?) ?\| (.*) \|$", GUIDE, re.MULTILINE)
    assert rows == [
        (one.name, ", ".join(f"`{label}`" for label in one.labels), one.meaning) for one in FAMILIES
    ]


def test_every_alert_says_how_urgent_it_is_and_what_is_wrong() -> None:
    assert {rule["labels"]["severity"] for rule in RULES} == {"page", "ticket"}
    assert [rule["alert"] for rule in RULES if not rule["annotations"]["summary"]] == []
