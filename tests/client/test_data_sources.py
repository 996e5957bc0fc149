"""Can people see which data jobs may name, and admins change it, from a command line?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from storage.models import DataSource
from tenancy.models import Team

from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

PASSWORD = "a long password"


@pytest.fixture(autouse=True)
def root(concertina: CommandLine) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def imagenet(concertina: CommandLine) -> DataSource:
    made = DataSource.objects.create(name="imagenet", kind="folder", place={"path": "/srv/in"})
    made.teams.add(Team.objects.get(name="vision"))
    return made


def test_data_is_listed(concertina: CommandLine, imagenet: DataSource) -> None:
    words = concertina("data", "ls").out.splitlines()[1].split()
    assert words == ["imagenet", "folder", "read", "vision", "0", "/srv/in"]
    (document,) = concertina("data", "ls", "-o", "json").document
    assert document["path"] == "/srv/in"


def test_an_admin_adds_and_removes(concertina: CommandLine, running_api: RunningApi) -> None:
    data_folder = running_api.data_folder
    asked = ("data", "add", "coco", data_folder, "--team", "vision", "--writable", "--as", "root")
    done = concertina(*asked, stdin=f"{PASSWORD}\n")
    assert (done.exit_code, done.err) == (0, "")
    assert done.out == f"Data coco is {data_folder}, for vision.\n"
    assert DataSource.objects.get().is_writable
    done = concertina("data", "rm", "coco", "--as", "root", stdin=PASSWORD)
    assert (done.exit_code, done.out) == (0, "Data coco is no source any more.\n")
    assert not DataSource.objects.exists()
    assert not Session.objects.exists(), "nobody stays signed in"


def test_a_wrong_password_and_who_is_no_admin_are_refused(
    concertina: CommandLine, imagenet: DataSource
) -> None:
    wrong = concertina("data", "rm", "imagenet", "--as", "root", stdin="a guess")
    assert (wrong.exit_code, wrong.err.strip()) == (
        5,
        "Error: The username or the password is wrong.",
    )
    User.objects.create_user("ada", password=PASSWORD)
    other = concertina("data", "rm", "imagenet", "--as", "ada", stdin=PASSWORD)
    assert other.exit_code == 5
    assert "Only admins" in other.err
    assert DataSource.objects.exists()


def test_run_names_data_and_describe_tells_it(
    concertina: CommandLine, imagenet: DataSource
) -> None:
    asked = ("run", "--no-code", "--data", "imagenet:train", "--name", "digits")
    assert concertina(*asked, "--", "python", "train.py").exit_code == 0
    (use,) = Job.objects.get().resolved_spec["data"]
    assert (use["source"], use["path"]) == ("imagenet", "train")
    assert "imagenet/train" in concertina("describe", "digits").out
    used = concertina("data", "rm", "imagenet", "--as", "root", stdin=PASSWORD)
    assert used.exit_code == 3
    assert "vision/digits" in used.err
