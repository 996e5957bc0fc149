"""Do `submit` and `run` send a folder along, once, and does `code` bring it back?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cluster.models import Node, Pool
from django.conf import settings
from storage.code.paths import CodePaths
from storage.models import CodeSnapshot
from storage.uploads.closed import remove

from concertina.code.packing import packed
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi


@pytest.fixture(autouse=True)
def paths(api: RunningApi) -> Iterator[CodePaths]:
    """Where the running api keeps code."""
    found = CodePaths(state_dir=settings.CONCERTINA.state_dir)
    yield found
    remove(found.root)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "train.py").write_text("print('hello')\n")
    (made / "job.yaml").write_text("name: digits\ncommand: [python, train.py]\n")
    monkeypatch.chdir(made)
    return made


def test_a_file_beside_the_job_file_is_sent_along_once(
    concertina: CommandLine, folder: Path, paths: CodePaths
) -> None:
    ended = concertina("submit", "-f", folder / "job.yaml")
    assert ended.exit_code == 0, ended.err
    assert f"Code of {folder}: 2 files" in ended.err
    assert "sent." in ended.err
    job = Job.objects.get()
    assert (paths.folder(job.team_id, job.code) / "train.py").read_text() == "print('hello')\n"
    ended = concertina("submit", "-f", folder / "job.yaml", "--set", "name=again")
    assert "there already." in ended.err
    assert CodeSnapshot.objects.count() == 1


def test_an_image_that_has_the_code_keeps_it(concertina: CommandLine, folder: Path) -> None:
    assert concertina("submit", "-f", folder / "job.yaml", "--set", "code=null").exit_code == 0
    assert Job.objects.get().code == ""


def test_each_job_of_a_bulk_has_its_code(concertina: CommandLine, folder: Path) -> None:
    (folder / "sweep.yaml").write_text(
        "spec: {name: a, command: [python, train.py]}\n"
        "changes: [{name: lr-1, env.LR: '0.1'}, {name: lr-2, env.LR: '0.2'}]\n"
    )
    ended = concertina("submit", "--bulk", "-f", folder / "sweep.yaml")
    assert ended.exit_code == 0, ended.err
    assert {job.code for job in Job.objects.all()} == {CodeSnapshot.objects.get().digest}


def test_a_folder_is_sent_once_for_all_jobs_of_a_bulk(
    concertina: CommandLine, folder: Path
) -> None:
    jobs = [{"name": f"job-{number}", "command": ["python", "train.py"]} for number in range(30)]
    (folder / "jobs.yaml").write_text(yaml.safe_dump(jobs))
    ended = concertina("submit", "--bulk", "-f", folder / "jobs.yaml")
    assert (ended.exit_code, ended.err.count("Code of ")) == (0, 1)
    assert Job.objects.exclude(code="").count() == 30


def test_a_spec_is_checked_without_sending_anything(concertina: CommandLine, folder: Path) -> None:
    assert concertina("validate", "-f", folder / "job.yaml").exit_code == 0
    (folder / "away").symlink_to("/etc/hosts")
    ended = concertina("validate", "-f", folder / "job.yaml")
    assert (ended.exit_code, "away is a link to /etc/hosts" in ended.err) == (2, True)
    assert not CodeSnapshot.objects.exists()


def test_a_command_runs_without_a_job_file(concertina: CommandLine, folder: Path) -> None:
    ended = concertina(
        *("run", "--workers", "1..4", "--batch", "64..512", "--env", "LR=0.1", "--priority", "60"),
        *("--metric", "loss=loss=([0-9.]+)"),
        *("--", "python", "train.py", "--epochs", "10"),
    )
    assert ended.exit_code == 0, ended.err
    job = Job.objects.get()
    assert job.name.startswith("train-")
    spec = job.resolved_spec
    assert spec["command"] == ["python", "train.py", "--epochs", "10"]
    assert (spec["elastic"]["min_workers"], spec["elastic"]["max_workers"]) == (1, 4)
    assert (
        spec["batch"]["global_batch_size"] | {"base": 64, "max": 512}
        == (spec["batch"]["global_batch_size"])
    )
    assert spec["metrics"] == [{"name": "loss", "pattern": "loss=([0-9.]+)"}]
    assert (spec["env"], spec["priority"], job.code != "") == ({"LR": "0.1"}, 60, True)


def test_a_command_may_run_in_any_of_several_pools(concertina: CommandLine, folder: Path) -> None:
    Node.objects.create(pool=Pool.objects.create(name="fast"), name="fast-1", gpus=4)
    command = ("--no-code", "--pools", "fast, default", "--", "true")
    ended = concertina("run", "--workers", "1..2", *command)
    assert ended.exit_code == 0, ended.err
    job = Job.objects.get()
    assert (job.pool.name, job.resolved_spec["pools"]) == ("fast", ["fast", "default"])
    refused = concertina("run", "--pool", "default", *command)
    assert refused.exit_code == 3
    assert "only one of both can be meant" in refused.err


def test_what_runs_can_be_saved_as_a_job_file_that_does_the_same(
    concertina: CommandLine, folder: Path
) -> None:
    saved = folder.parent / "saved.yaml"
    done = concertina("run", "--name", "a", "--save", saved, "--", "python", "train.py")
    assert done.exit_code == 0
    assert yaml.safe_load(saved.read_text())["code"] == {"path": str(folder)}
    assert concertina("submit", "-f", saved, "--set", "name=b").exit_code == 0
    first, second = Job.objects.order_by("name")
    assert first.resolved_spec | {"name": "b"} == second.resolved_spec


WRONG = {
    "a range that is none": ("--workers", "many"),
    "an open range": ("--workers", "1.."),
    "a metric without a pattern": ("--metric", "loss"),
    "a batch that is none": ("--batch", "-1"),
    "a folder that is not there": ("--code", "nowhere"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_options_are_told_and_nothing_is_submitted(
    concertina: CommandLine, folder: Path, sentence: str
) -> None:
    ended = concertina("run", *WRONG[sentence], "--", "python", "train.py")
    assert ended.exit_code == 2
    assert ended.err
    assert not Job.objects.exists()


def test_an_upload_that_was_cut_off_goes_on(
    concertina: CommandLine, folder: Path, paths: CodePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first half of the same archive is there already."""
    concertina("run", "--no-code", "--", "true")
    team = Job.objects.get().team_id
    with packed(folder) as code:
        archive = code.archive.read()
        paths.make(team)
        part = paths.uploads(team) / f"{code.digest}.part"
        part.write_bytes(archive[: len(archive) // 2])
    assert concertina("run", "--", "python", "train.py").exit_code == 0
    assert CodeSnapshot.objects.get().files == 2


def test_a_damaged_beginning_is_thrown_away_and_sent_again(
    concertina: CommandLine, folder: Path, paths: CodePaths
) -> None:
    concertina("run", "--no-code", "--", "true")
    team = Job.objects.get().team_id
    with packed(folder) as code:
        paths.make(team)
        (paths.uploads(team) / f"{code.digest}.part").write_bytes(b"damaged")
    assert concertina("run", "--", "python", "train.py").exit_code == 0
    assert CodeSnapshot.objects.get().files == 2


def test_code_comes_back(concertina: CommandLine, folder: Path, tmp_path: Path) -> None:
    concertina("submit", "-f", folder / "job.yaml")
    into = tmp_path / "back"
    ended = concertina("code", "digits", "--into", into)
    assert (ended.exit_code, ended.out.strip()) == (
        0,
        f"The code of vision/digits is in {into}: 2 files.",
    )
    assert (into / "train.py").read_text() == "print('hello')\n"
    assert concertina("code", "digits", "--into", into).exit_code == 2
    concertina("run", "--no-code", "--name", "bare", "--", "true")
    assert concertina("code", "bare", "--into", tmp_path / "none").exit_code == 4


def test_a_job_tells_which_code_it_runs(concertina: CommandLine, folder: Path) -> None:
    concertina("submit", "-f", folder / "job.yaml")
    assert Job.objects.get().code[:12] in concertina("describe", "digits").out
