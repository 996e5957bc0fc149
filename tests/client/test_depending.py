"""Does the command line let jobs wait for others, and show that?"""

from __future__ import annotations

from pathlib import Path

from jobs.models import Job
from tests.client.command_line import CommandLine


def test_a_job_waits_for_others_and_both_say_so(concertina: CommandLine, job_file: Path) -> None:
    for name in ("first", "second"):
        assert concertina("submit", "-f", job_file, "--set", f"name={name}").exit_code == 0
    ended = concertina(
        *("submit", "-f", job_file, "--after", "first", "--after", "second:any"),
    )
    assert ended.exit_code == 0, ended.err
    first, last = Job.objects.get(name="first"), Job.objects.get(name="digits")
    assert [one["when"] for one in last.resolved_spec["depends_on"]] == ["ok", "any"]
    said = " ".join(concertina("describe", "digits").out.split())
    assert f"Starts after first ({first.id}) to complete: queued; second" in said
    said = " ".join(concertina("describe", "first").out.split())
    assert f"Awaited by digits ({last.id})" in said
    document = concertina("describe", "first", "-o", "json").document
    assert document["dependencies"]["awaited_by"][0]["job_id"] == last.id
    cancelled = concertina("cancel", "--tree", "first")
    assert "All that waited for it is cancelled as well." in cancelled.err
    states = dict(Job.objects.values_list("name", "state"))
    assert states == {"first": "cancelled", "second": "queued", "digits": "cancelled"}


def test_what_cannot_be_waited_for_is_refused(concertina: CommandLine, job_file: Path) -> None:
    wrong = concertina("submit", "-f", job_file, "--after", "first:soon")
    assert (wrong.exit_code, "JOB:failed" in wrong.err) == (2, True)
    unknown = concertina("submit", "-f", job_file, "--after", "nobody")
    assert (unknown.exit_code, "depends_on[0]" in unknown.err) == (3, True)
    many = concertina("submit", "--bulk", "-f", job_file, "--after", "first")
    assert "write depends_on into the specs" in many.err
    assert not Job.objects.exists()


def test_a_dry_run_says_what_would_become_of_a_job_and_submits_none(
    concertina: CommandLine, job_file: Path
) -> None:
    ended = concertina("submit", "-f", job_file, "--dry-run")
    assert ended.exit_code == 0, ended.err
    assert ended.out.startswith("The spec is valid.")
    assert "It would start now in pool default, with" in ended.out
    document = concertina("submit", "-f", job_file, "--dry-run", "-o", "json").document
    assert document["outlook"]["action"] == "start"
    both = concertina("submit", "-f", job_file, "--dry-run", "--wait")
    assert (both.exit_code, "Leave one out" in both.err) == (2, True)
    wrong = concertina("submit", "-f", job_file, "--dry-run", "--set", "elastic.min_workers=99")
    assert wrong.exit_code == 3
    assert not Job.objects.exists()
