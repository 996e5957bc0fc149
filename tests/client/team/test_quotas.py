"""Do people who may change quotas and nodes from the command line, and others not?"""

from __future__ import annotations

import pytest
from cluster.models import Node
from django.contrib.auth.models import User
from tenancy.models import Membership, Quota, QuotaVersion, Team

from tests.client.command_line import CommandLine

PASSWORD = "a long password"


@pytest.fixture
def admin(concertina: CommandLine) -> tuple[str, str]:  # after the teams
    User.objects.create_superuser("root", password=PASSWORD)
    return ("--as", "root")


def test_an_admin_changes_some_of_a_quota_and_the_rest_stays(
    concertina: CommandLine, admin: tuple[str, str]
) -> None:
    pool = Node.objects.first().pool.name  # type: ignore[union-attr]  # there is one
    before = Quota.objects.get(team__name="vision", pool__name=pool)
    where = ("vision", pool, *admin)
    done = concertina("quota", "set", *where, "--limit", "7", "-o", "json", stdin=PASSWORD)
    assert done.exit_code == 0, done.err
    assert (done.document["limit_gpus"], done.document["guaranteed_gpus"]) == (
        7,
        before.guaranteed_gpus,
    )
    assert concertina("quota", "set", *where, "--limit", "none", stdin=PASSWORD).exit_code == 0
    (shown,) = concertina("quota", "ls", "-o", "json").document
    assert (shown["pool"], shown["limit_gpus"]) == (pool, None)
    lines = [line.split() for line in concertina("quota", "ls", "vision").out.splitlines()]
    assert lines[1] == [pool, str(before.guaranteed_gpus), "all", "none", "1"]


def test_a_lead_of_the_team_above_divides_what_is_its_own(concertina: CommandLine) -> None:
    vision = Team.objects.get(name="vision")
    Team.objects.create(name="detection", parent=vision)
    lead = User.objects.create_user("carl", password=PASSWORD)
    Membership.objects.create(user=lead, team=vision, role="lead")
    quota = Quota.objects.filter(team=vision).select_related("pool").get()
    where = ("quota", "set", "detection", quota.pool.name, "--as", "carl")
    fits = concertina(*where, "--guaranteed", str(quota.guaranteed_gpus), stdin=PASSWORD)
    assert fits.exit_code == 0, fits.err
    more = concertina(*where, "--guaranteed", str(quota.guaranteed_gpus + 1), stdin=PASSWORD)
    assert more.exit_code == 3


def test_a_token_changes_no_quota_and_no_node(concertina: CommandLine) -> None:
    node = Node.objects.first()
    assert node is not None
    quota = concertina("quota", "set", "vision", node.pool.name, "--weight", "2")
    assert (quota.exit_code, "Only admins change quotas" in quota.err) == (5, True)
    drained = concertina("drain", node.name)
    assert (drained.exit_code, "Only an admin" in drained.err) == (5, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say what to change"),
        (("--limit", "-1"), "--limit is a number of GPUs, or none"),
        (("--lending-limit", "9999999999"), "--lending-limit is a number"),
    ],
)
def test_what_is_no_quota_is_refused_in_words(
    words: tuple[str, ...], said: str, concertina: CommandLine
) -> None:
    refused = concertina("quota", "set", "vision", "default", *words)
    assert (refused.exit_code, said in " ".join(refused.err.split())) == (2, True)


def test_an_admin_takes_a_node_out_of_service_and_back(
    concertina: CommandLine, admin: tuple[str, str]
) -> None:
    node = Node.objects.first()
    assert node is not None

    def state_after(verb: str) -> tuple[bool, bool]:
        done = concertina(verb, node.name, *admin, "-o", "json", stdin=PASSWORD)
        assert done.exit_code == 0, done.err
        return done.document["is_schedulable"], done.document["is_draining"]

    assert state_after("cordon") == (False, False)
    assert state_after("drain") == (False, True)
    assert state_after("uncordon") == (True, False)
    unknown = concertina("drain", "nowhere", *admin, stdin=PASSWORD)
    assert (unknown.exit_code, "There is no node" in unknown.err) == (4, True)


def test_what_a_quota_was_is_told_for_a_moment(concertina: CommandLine) -> None:
    before = Quota.objects.get(team__name="vision")
    moment = QuotaVersion.objects.get(team__name="vision").since.isoformat()
    Quota.objects.filter(pk=before.pk).update(guaranteed_gpus=before.guaranteed_gpus - 1)
    (then,) = concertina("quota", "ls", "vision", "--as-of", moment, "-o", "json").document
    (today,) = concertina("quota", "ls", "vision", "-o", "json").document
    assert then["guaranteed_gpus"] == before.guaranteed_gpus == today["guaranteed_gpus"] + 1
    early = concertina("quota", "ls", "--as-of", "2001-01-01")
    assert (early.exit_code, "No quota was written down before" in early.err) == (3, True)
