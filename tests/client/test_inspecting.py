from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest
from cluster.models import MachineEvent, Pool
from django.contrib.auth.models import User
from django.utils import timezone

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.command_line import CommandLine, Ending
from tests.client.test_submitting import finish


@pytest.fixture
def job(concertina: CommandLine, job_file: Path) -> Job:
    assert concertina("submit", "-f", job_file).exit_code == 0
    return Job.objects.get()


def test_live_jobs_are_listed_and_final_ones_on_demand(
    concertina: CommandLine, job: Job, job_file: Path
) -> None:
    finish(job, JobState.COMPLETED)
    concertina("submit", "-f", job_file, "--set", "name=second")
    assert [one["name"] for one in concertina("ps", "-o", "json").document] == ["second"]
    everything = concertina("ps", "--all", "-o", "json").document
    assert [one["name"] for one in everything] == ["second", "digits"]
    assert "vision/second" in concertina("ps").out
    final = concertina("ps", "--state", "completed", "--search", "dig", "-o", "json").document
    assert [one["name"] for one in final] == ["digits"]


def test_a_long_list_is_fetched_page_by_page(concertina: CommandLine, job: Job) -> None:
    Job.objects.bulk_create(
        Job(
            name=f"job-{number}",
            team=job.team,
            pool=job.pool,
            spec=job.spec,
            resolved_spec=job.resolved_spec,
            submitted_by="tests",
        )
        for number in range(249)
    )
    names = {one["name"] for one in concertina("ps", "--limit", "1000", "-o", "json").document}
    assert len(names) == 250
    assert len(concertina("ps", "--limit", "101", "-o", "json").document) == 101


def test_a_list_is_narrowed_sorted_and_written_as_asked(
    concertina: CommandLine, job_file: Path
) -> None:
    for name, team in (("one", "resnet"), ("two", "bert")):
        labels = ("--set", f"labels.net={team}", "--set", f"name={name}")
        assert concertina("submit", "-f", job_file, *labels).exit_code == 0
    sender = Job.objects.values_list("submitted_by", flat=True)[0]
    finish(Job.objects.get(name="one"), JobState.COMPLETED)

    def names(*asked: str) -> list[str]:
        return [one["name"] for one in concertina("ps", *asked, "-o", "json").document]

    assert names("--all", "-l", "net=resnet", "--label", "net") == ["one"]
    assert names("--all", "--user", sender, "--since", "1h") == ["two", "one"]
    assert names("--all", "--until", "2026-01-01") == []
    assert names("--all", "--pool", "elsewhere") == []
    assert names("--sort", "finished") == ["one"]
    assert concertina("ps", "-o", "csv", "-a").out.splitlines()[0].startswith("id,name,")
    assert "- id: " in concertina("ps", "-o", "yaml").out
    assert concertina("ps", "--columns", "job,state").out.splitlines()[1].split()[0].endswith("two")
    for wrong in (("--columns", "colour"), ("--since", "soon"), ("--sort", "colour")):
        assert concertina("ps", *wrong).exit_code == 2


def test_pools_and_nodes_are_listed(concertina: CommandLine, job: Job) -> None:
    assert concertina("pools").out.splitlines()[0].split()[0] == "POOL"
    (pool,) = concertina("pools", "-o", "json").document
    (node,) = concertina("nodes", "--pool", pool["name"], "-o", "json").document
    assert node["gpus"] == pool["gpus_total"]
    assert node["name"] in concertina("nodes").out


def test_pools_that_ask_for_machines_say_what_they_do(concertina: CommandLine, job: Job) -> None:
    Pool.objects.update(nodes_min=1, nodes_max=6, gpus_per_node=4, asking_note="It is full.")
    job.pool.machine_requests.create(asked_at=timezone.now())
    for number in range(5):
        MachineEvent.objects.create(
            at=timezone.now(), kind="asked", pool=job.pool.name, reason=f"reason {number}"
        )
    said = concertina("pools").out
    assert f"{job.pool.name} asks its cluster for machines: from 1 to 6 nodes of 4 GPUs." in said
    assert ("One was asked for " in said, "It is full." in said) == (True, True)
    assert said.count("one more machine was asked for: reason") == 3
    assert "reason 4." in said


def test_the_release_is_told(concertina: CommandLine) -> None:
    assert concertina("--version").out == f"concertina {metadata.version('concertina')}\n"


def test_an_empty_list_says_what_to_do(concertina: CommandLine) -> None:
    ended = concertina("ps")
    assert (ended.exit_code, ended.out) == (0, "")
    assert "concertina ps --all" in ended.err
    assert concertina("ps", "-o", "json").document == []


def test_an_unknown_state_is_refused_with_those_there_are(concertina: CommandLine) -> None:
    ended = concertina("ps", "--state", "runing")
    assert ended.exit_code == 2
    assert "rescaling" in ended.err


def test_a_job_is_found_by_id_by_name_and_by_team_and_name(
    concertina: CommandLine, job: Job
) -> None:
    for reference in (job.id, "digits", "vision/digits"):
        assert concertina("describe", reference, "-o", "json").document["job"]["id"] == job.id


def test_a_name_means_the_live_job_else_the_newest(
    concertina: CommandLine, job: Job, job_file: Path
) -> None:
    finish(job, JobState.FAILED)
    live = concertina("submit", "-f", job_file, "-o", "json").document["id"]
    assert concertina("describe", "digits", "-o", "json").document["job"]["id"] == live
    finish(Job.objects.get(id=live), JobState.COMPLETED)
    assert concertina("describe", "digits", "-o", "json").document["job"]["id"] == live


@pytest.mark.parametrize("reference", ["nothing", "abcdefghjk", "language/digits", "dig", "a/b/c"])
def test_a_job_that_is_not_there_is_not_found(
    concertina: CommandLine, job: Job, reference: str
) -> None:
    for command in ("describe", "explain", "logs", "pause", "cancel", "wait"):
        ended = concertina(command, reference)
        assert ended.exit_code == 4
        assert "no job" in ended.err


def test_a_job_of_another_team_is_not_found(
    concertina: CommandLine, job: Job, token_of: dict[str, str]
) -> None:
    other = CommandLine(
        environment={**concertina.environment, "CONCERTINA_TOKEN": token_of["language"]}
    )
    assert other("describe", job.id).exit_code == 4
    assert other("cancel", "digits").exit_code == 4
    assert other("ps", "-o", "json").document == []


def test_a_description_shows_facts_and_events(concertina: CommandLine, job: Job) -> None:
    out = concertina("describe", "digits").out
    assert f"vision/digits ({job.id})" in out
    assert "may have 1 to 4" in out
    assert "Submitted by vision/tests." in out
    document = concertina("describe", "digits", "-o", "json").document
    expected = {"job", "generations", "workers", "events", "removals", "dependencies"}
    assert set(document) == expected


def test_a_waiting_job_is_explained(concertina: CommandLine, job: Job) -> None:
    ended = concertina("explain", "digits")
    assert ended.exit_code == 0
    assert "Waits for the next planning tick." in ended.out
    assert concertina("explain", "digits", "-o", "json").document["job_id"] == job.id


def test_a_planned_job_is_explained_with_its_numbers(concertina: CommandLine, job: Job) -> None:
    Job.objects.update(
        state="running",
        explanation={
            "action": "keep",
            "reason": "best_allocation",
            "message": "Keeps 2 workers: a 3rd would speed it up by 6 %.",
            "explanation": {
                "choices": [
                    {
                        "workers": workers,
                        "global_batch_size": 64,
                        "samples_per_second": 100.0 * workers,
                        "speedup": 1.0 * workers,
                        "value": 0.5,
                    }
                    for workers in (1, 2, 3)
                ],
                "price": 0.25,
            },
        },
    )
    out = concertina("explain", "digits").out
    assert "a 3rd would speed it up by 6 %" in out
    assert "one more GPU would add 0.25" in out


def test_teams_show_their_guarantees(concertina: CommandLine, job: Job) -> None:
    document = concertina("teams", "-o", "json").document
    assert {team["name"]: team["guaranteed"] for team in document}["vision"] == 2
    assert "GUARANTEED" in concertina("teams").out


def test_top_looks_once_where_nobody_looks_on(concertina: CommandLine, job: Job) -> None:
    out = concertina("top").out
    for expected in ("pool default", "0 of 4 GPUs in use", "vision/digits", "queued"):
        assert expected in out
    assert set(concertina("top", "-o", "json").document) == {"pools", "teams", "jobs"}


def test_a_job_is_paused_resumed_and_cancelled(concertina: CommandLine, job: Job) -> None:
    assert "is paused now" in concertina("pause", "digits", "--reason", "lunch").out
    assert "is queued now" in concertina("resume", "digits").out
    assert concertina("cancel", "digits", "-o", "json").document["state"] == "cancelled"
    assert "lunch" in concertina("describe", job.id).out


def test_a_move_that_is_not_possible_is_refused_with_the_state(
    concertina: CommandLine, job: Job
) -> None:
    refused = concertina("resume", "digits")
    assert refused.exit_code == 3
    assert "queued" in refused.err
    assert concertina("resume", "digits", "-o", "json").error["code"] == "illegal_transition"


def test_several_jobs_are_cancelled_only_if_all_are_there(
    concertina: CommandLine, job: Job, job_file: Path
) -> None:
    concertina("submit", "-f", job_file, "--set", "name=second")
    assert concertina("cancel", "digits", "typo", "second").exit_code == 4
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}
    assert concertina("cancel", "digits", "second").exit_code == 0
    assert set(Job.objects.values_list("state", flat=True)) == {"cancelled"}


def test_what_a_teams_jobs_may_reach_is_shown_to_it_and_changed_by_admins(
    concertina: CommandLine,
) -> None:
    User.objects.create_superuser("root", password="a long password")
    assert concertina("network").out == "Jobs of vision reach nobody but one another.\n"
    hosts = ("pypi.org:443", "*.example.com:443")
    assert concertina("network", "listed", *hosts).exit_code == 5

    def as_root(*words: str) -> Ending:
        asked = ("network", *words, "--team", "vision", "--as", "root")
        return concertina(*asked, stdin="a long password")

    changed = as_root("listed", *hosts)
    assert (changed.exit_code, changed.err) == (0, "")
    assert changed.out == (
        "Jobs of vision reach, with `network: listed`: pypi.org:443, *.example.com:443.\n"
    )
    assert concertina("network", "-o", "json").document["reachable"] == [*hosts]
    assert "node reaches" in as_root("egress").out
    assert as_root("listed").out == changed.out, "the list is still there"
    wrong = as_root("listed", "pypi.org")
    assert (wrong.exit_code, "is not a host with a port" in wrong.err) == (3, True), wrong.err
    assert as_root("egress", "pypi.org:443").exit_code == 2
