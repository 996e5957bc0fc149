"""Are GET /simulations/{id}, its report and its cancellation as promised?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Team

from autoscaler.simulation.api import execution
from autoscaler.simulation.api.models import Simulation
from tests.service.simulations.test_simulations import admin, ask, lead

__all__ = ["admin", "lead"]  # fixtures
URL = "/api/v1/simulations"


@pytest.fixture
def simulation_id(admin: APIClient) -> str:
    made: str = ask(admin, policies=["completion_time", "static"]).json()["id"]
    return made


def test_a_completed_simulation_shows_the_figures_of_every_run(
    admin: APIClient, simulation_id: str
) -> None:
    assert execution.run_next()
    found = admin.get(f"{URL}/{simulation_id}").json()
    assert (found["state"], found["progress"], found["error"]) == ("completed", 1.0, "")
    assert [run["label"] for run in found["result"]["runs"]] == ["completion_time", "static"]
    assert [run["done"] for run in found["result"]["runs"]] == [4, 4]


def test_changes_of_the_cluster_are_compared_with_the_cluster_as_it_is(admin: APIClient) -> None:
    quotas = [{"team": "vision", "guaranteed_gpus": 6}]
    made = ask(admin, add_gpus=8, quotas=quotas).json()["id"]
    assert execution.run_next()
    result = admin.get(f"{URL}/{made}").json()["result"]
    assert result["gpus"] == 16
    assert [run["label"] for run in result["runs"]] == [
        "completion_time, as is",
        "completion_time, +8 GPUs, vision 6",
    ]


def test_the_report_of_a_completed_simulation_is_one_html_file(
    admin: APIClient, simulation_id: str
) -> None:
    missing = admin.get(f"{URL}/{simulation_id}/report")
    assert (missing.status_code, missing.json()["code"]) == (404, "no_report")
    execution.run_next()
    answer = admin.get(f"{URL}/{simulation_id}/report", HTTP_ACCEPT="text/html")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "attachment" in answer.headers["Content-Disposition"]
    assert b"completion_time" in answer.content


def test_a_waiting_simulation_can_be_cancelled_once(admin: APIClient, simulation_id: str) -> None:
    answer = admin.post(f"{URL}/{simulation_id}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    again = admin.post(f"{URL}/{simulation_id}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "illegal_transition")
    assert not execution.run_next()


def test_somebody_elses_simulation_looks_like_none(
    lead: APIClient, simulation_id: str, vision: Team, admin_user: User
) -> None:
    for answer in (
        lead.get(f"{URL}/{simulation_id}"),
        lead.get(f"{URL}/{simulation_id}/report"),
        lead.post(f"{URL}/{simulation_id}/cancel"),
        lead.get(f"{URL}/nosuchone"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert Simulation.objects.get().state == Simulation.State.QUEUED


def test_a_simulation_needs_a_login_and_the_right_method(
    admin: APIClient, simulation_id: str
) -> None:
    assert APIClient().get(f"{URL}/{simulation_id}").status_code == 401
    assert admin.delete(f"{URL}/{simulation_id}").status_code == 405
