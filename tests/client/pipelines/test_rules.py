"""Does the command line show and set rules, and keep templates that jobs begin with?"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import User
from tenancy.models import Membership, Team

from jobs.models import Job, JobTemplate, TeamRules
from tests.client.command_line import CommandLine
from tests.service.conftest import spec


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(spec()))
    return path


@pytest.fixture
def lead(concertina: CommandLine) -> tuple[str, ...]:
    """Options with which a lead speaks; the password comes from a pipe."""
    vision = Team.objects.get(name="vision")
    user = User.objects.create_user("ada", password="a long password")
    Membership.objects.create(team=vision, user=user, role=Membership.Role.LEAD)
    return ("--as", "ada")


def test_rules_are_set_piece_by_piece_and_refuse_by_name(
    concertina: CommandLine, lead: tuple[str, ...], job_file: Path
) -> None:
    assert "No rules" in concertina("rules", "show").out
    done = concertina(
        *("rules", "set", "vision", "--most", "gpus=2", "--most", "max_duration=1d"),
        *("--least", "priority=10", "--label", "stage=dev,prod", "--label", "who"),
        *("--label", "cc=CC-*", "--default", "env.A=1", "--default", "labels.who=us"),
        *("--modes", "auto,hot", *lead),
        stdin="a long password",
    )
    assert done.exit_code == 0, done.err
    shown = " ".join(concertina("rules", "show").out.split())
    for row in (
        "vision defaults.env.A 1",
        "vision bounds.gpus at most 2",
        "vision bounds.priority at least 10",
        "vision labels.stage one of dev, prod",
        "vision labels.cc like CC-*",
        "vision labels.who any value",
        "vision modes auto, hot",
    ):
        assert row in shown
    refused = concertina("validate", "-f", job_file)
    assert refused.exit_code == 3
    told = " ".join(refused.err.split())
    assert "the rule bounds.gpus.most of team vision" in told
    done = concertina(
        *("rules", "set", "vision", "--most", "gpus=none", "--most", "max_duration=none"),
        *("--label", "stage=none", "--label", "cc=none", "--modes", "none"),
        *("--default", "env.A=none", *lead),
        stdin="a long password",
    )
    assert done.exit_code == 0, done.err
    rules = TeamRules.objects.get()
    assert (rules.bounds, rules.labels) == ({"priority": {"least": 10}}, {"who": {}})
    assert (rules.defaults, rules.modes) == ({"labels": {"who": "us"}}, None)
    assert concertina("submit", "-f", job_file).exit_code == 0
    assert Job.objects.get().labels == {"who": "us"}
    assert "Say what to change" in concertina("rules", "set", "vision").err
    assert "write FIELD=VALUE" in concertina("rules", "set", "vision", "--most", "gpus").err


def test_rules_of_a_file_take_the_place_of_all(
    concertina: CommandLine, lead: tuple[str, ...], tmp_path: Path
) -> None:
    TeamRules.objects.create(team=Team.objects.get(name="vision"), modes=["hot"])
    path = tmp_path / "rules.yaml"
    path.write_text("bounds: {priority: {most: 60}}\n")
    answer = concertina(
        *("rules", "set", "vision", "-f", path, *lead, "-o", "json"), stdin="a long password"
    )
    assert answer.document["rules"]["modes"] is None
    assert answer.document["rules"]["bounds"] == {"priority": {"most": 60}}
    member = concertina("rules", "set", "vision", "--modes", "hot")
    assert member.exit_code == 5


def test_a_file_of_something_else_is_refused_and_takes_no_rule_away(
    concertina: CommandLine, lead: tuple[str, ...], tmp_path: Path
) -> None:
    TeamRules.objects.create(team=Team.objects.get(name="vision"), modes=["hot"])
    path = tmp_path / "rules.yaml"
    path.write_text(concertina("rules", "show", "-o", "json").out)
    for text, more, told in (
        (path.read_text(), (), "This is no field here"),
        ("bounds: [1]\n", ("--most", "gpus=2"), "bounds of the file is no mapping"),
        ("bounds: {gpus: 3}\n", ("--most", "gpus=2"), "bounds.gpus of the file is no mapping"),
        ("defaults: [1]\n", ("--default", "priority=2"), "defaults of the file is no mapping"),
        ("labels: x\n", ("--label", "who"), "labels of the file is no mapping"),
    ):
        path.write_text(text)
        refused = concertina(
            "rules", "set", "vision", "-f", path, *more, *lead, stdin="a long password"
        )
        assert refused.exit_code != 0
        assert told in " ".join(refused.err.split())
    assert TeamRules.objects.get().modes == ["hot"]
    done = concertina(
        "rules", "set", "vision", "--modes", "hot, auto", *lead, stdin="a long password"
    )
    assert done.exit_code == 0, done.err
    assert TeamRules.objects.get().modes == ["hot", "auto"]


def test_a_template_from_its_file_to_a_job_and_its_end(
    concertina: CommandLine, tmp_path: Path
) -> None:
    assert "No templates" in concertina("templates", "list").err
    path = tmp_path / "part.yaml"
    path.write_text("priority: 20\nelastic: {max_workers: 3}\n")
    added = concertina(
        *("templates", "add", "usual", "-f", path, "--set", "env.A=1"),
        *("--description", "For all."),
    )
    assert added.exit_code == 0, added.err
    assert "usual has version 1 now" in added.out
    changed = concertina("templates", "change", "usual", "--set", "priority=30")
    assert "usual has version 2 now" in changed.out
    shown = " ".join(concertina("templates", "show", "usual").out.split())
    assert "priority 30" in shown
    assert "elastic.max_workers 3" in shown
    assert "usual vision 2" in " ".join(concertina("templates", "list").out.split())

    ran = concertina("run", "--template", "usual", "--no-code", "--", "python", "train.py")
    assert ran.exit_code == 0, ran.err
    job = Job.objects.get()
    assert (job.priority, job.resolved_spec["elastic"]["max_workers"]) == (30, 3)
    assert "Template vision/usual, version 2" in " ".join(
        concertina("describe", job.id).out.split()
    )
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump({"name": "b", "command": ["x"], "elastic": {"max_workers": 1}}))
    assert concertina("submit", "-f", file, "--template", "usual").exit_code == 0
    assert Job.objects.get(name="b").resolved_spec["elastic"]["max_workers"] == 1
    unknown = concertina("validate", "-f", file, "--template", "other")
    assert "is no template of team vision" in unknown.err
    bulk = concertina("submit", "--bulk", "-f", file, "--template", "usual")
    assert "write template into the specs" in bulk.err
    assert "Say what to change" in concertina("templates", "change", "usual").err
    assert "Say what it fills in" in concertina("templates", "add", "empty").err
    assert "is deleted" in concertina("templates", "delete", "usual").out
    assert not JobTemplate.objects.exists()
