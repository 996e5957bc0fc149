"""Does `manage.py bootstrap` make an installation usable, however often it is run?"""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from cluster.models import Node, Pool
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from tenancy.access.keys import tokens
from tenancy.models import ImageRule, Quota, Team

pytestmark = pytest.mark.django_db

TEAMS = ("--team", "vision=2", "--team", "language=2")


def bootstrap(*arguments: str) -> dict[str, Any]:
    said = StringIO()
    call_command("bootstrap", *arguments, stdout=said)
    told: dict[str, Any] = json.loads(said.getvalue())
    return told


def test_it_makes_a_pool_teams_keys_and_an_admin() -> None:
    told = bootstrap("--nodes", "2", "--slots", "4", *TEAMS, "--admin-password", "pw")
    assert Node.objects.filter(pool__name="default", gpus=4).count() == 2
    assert Quota.objects.get(team__name="vision").guaranteed_gpus == 2
    token = tokens.find_valid(told["tokens"]["language"])
    assert token is not None
    assert token.team.name == "language"
    assert told["admin"] == {"username": "admin", "password": "pw"}
    user = authenticate(username="admin", password="pw")
    assert user is not None
    assert user.is_superuser


def test_a_second_run_keeps_keys_and_takes_over_what_changed() -> None:
    first = bootstrap(*TEAMS, "--admin-password", "pw")
    second = bootstrap("--slots", "8", "--team", "vision=5", "--admin-password", "new")
    assert second["tokens"] == {"vision": None}
    assert tokens.find_valid(first["tokens"]["vision"]) is not None
    assert (Pool.objects.count(), Team.objects.count()) == (1, 2)
    assert Node.objects.get().gpus == 8
    assert Quota.objects.get(team__name="vision").guaranteed_gpus == 5


def test_a_second_run_leaves_the_password_unless_told_to_replace_it() -> None:
    bootstrap("--admin-password", "pw")
    told = bootstrap("--admin-password", "other")
    assert told["admin"] == {"username": "admin", "password": None}
    assert authenticate(username="admin", password="pw") is not None
    assert authenticate(username="admin", password="other") is None
    bootstrap("--admin-password", "other", "--new-admin-password")
    assert authenticate(username="admin", password="other") is not None


def test_nobody_becomes_an_administrator_by_being_named() -> None:
    User.objects.create_user("ada", password="hers")
    with pytest.raises(CommandError, match="is no administrator"):
        bootstrap("--admin", "ada", "--new-admin-password")
    assert not User.objects.get(username="ada").is_superuser
    assert authenticate(username="ada", password="hers") is not None


def test_a_password_needs_not_be_shown_to_the_whole_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONCERTINA_ADMIN_PASSWORD", "whispered")
    bootstrap()
    assert authenticate(username="admin", password="whispered") is not None


def test_lost_keys_can_be_replaced() -> None:
    first = bootstrap(*TEAMS)
    second = bootstrap(*TEAMS, "--new-tokens")
    assert tokens.find_valid(first["tokens"]["vision"]) is None
    assert tokens.find_valid(second["tokens"]["vision"]) is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--team", "vision"), "NAME=GPUS"),
        (("--team", "vision=many"), "NAME=GPUS"),
        (("--team", "Vision Team=1"), "lower-case"),
        (("--slots", "2", "--team", "vision=3"), "Guarantee at most 2"),
        (("--pool", "No Pool", *TEAMS), "lower-case"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_half_made(
    arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        bootstrap(*arguments)
    assert not Pool.objects.exists()
    assert not Team.objects.exists()


def test_a_password_is_made_when_none_is_given() -> None:
    told = bootstrap()
    assert len(told["admin"]["password"]) >= 12


def test_a_node_knows_the_uuids_of_its_gpus() -> None:
    bootstrap("--gpu-type=nvidia-l4", "--slots=2", "--gpu-uuids=GPU-aa,GPU-bb")
    node = Node.objects.get()
    assert (node.gpus, node.gpu_uuids) == (2, ["GPU-aa", "GPU-bb"])
    assert [node.cuda_name(0), node.cuda_name(1)] == ["GPU-aa", "GPU-bb"]


def test_uuids_stay_as_they_are_until_something_is_said_of_them() -> None:
    bootstrap("--gpu-type=nvidia-l4", "--slots=1", "--gpu-uuids=GPU-aa")
    bootstrap("--gpu-type=nvidia-l4", "--slots=1")
    assert Node.objects.get().gpu_uuids == ["GPU-aa"]
    bootstrap("--slots=1", "--gpu-uuids=")
    assert Node.objects.get().gpu_uuids == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nodes=3", "--slots=1", "--gpu-uuids=GPU-aa"), "of one node"),
        (("--slots=2", "--gpu-uuids=GPU-aa"), "1 names for 2 GPUs"),
    ],
)
def test_uuids_name_each_gpu_of_one_node(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        bootstrap(*arguments)
    assert not Node.objects.exists()


@pytest.mark.parametrize("uuids", [{}, "GPU-aa", [1], [""], ["GPU-aa,GPU-bb"]])
def test_uuids_are_a_list_of_names(uuids: Any) -> None:
    with pytest.raises(ValidationError, match="list of names"):
        Node(name="n", gpus=1, gpu_uuids=uuids).clean()


def test_some_gpus_with_uuids_and_some_without_would_be_mixed_up() -> None:
    with pytest.raises(ValidationError, match="1 names for 2 GPUs"):
        Node(name="n", gpus=2, gpu_uuids=["GPU-aa"]).clean()


def test_images_it_is_told_of_may_be_run_by_every_team_from_then_on() -> None:
    for _ in range(2):
        bootstrap(
            *TEAMS, "--image", "localhost/concertina-demo:1", "--image", "registry.example.com/*"
        )
    patterns = {"localhost/concertina-demo:1", "registry.example.com/*"}
    assert {rule.pattern for rule in ImageRule.objects.filter(team=None)} == patterns
    with pytest.raises(CommandError, match="not a pattern"):
        bootstrap("--image", "UPPER//case")
