"""Can a team choose and see for how long it keeps what its jobs leave behind?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone
from tenancy.models import Team

from jobs.models import Job
from tests.client.command_line import CommandLine


def test_a_team_chooses_within_bounds_that_an_admin_sets(concertina: CommandLine) -> None:
    assert concertina("retention", "set", "logs", "30").out.strip() == "Logs: 30 days."
    assert concertina("retention", "set", "outputs", "0").out.strip() == "Outputs: for ever."
    listed = {line.split()[0]: line for line in concertina("retention", "ls").out.splitlines()}
    assert listed["logs"].split("  ")[-1].strip() == "-"
    assert "30 days" in listed["logs"]
    assert "for ever" in listed["outputs"]
    User.objects.create_superuser("root", password="a long password")
    ended = concertina(
        *("retention", "set", "logs", "--most", "7", "--as", "root", "--team", "vision"),
        stdin="a long password\n",
    )
    assert ended.out.strip() == "Logs: 7 days.", ended.err
    refused = concertina("retention", "set", "logs", "8")
    assert (refused.exit_code, "at most 7 days" in refused.err) == (3, True)
    assert concertina("retention", "set", "logs", "usual").out.strip() == "Logs: 7 days."
    assert concertina("retention", "set", "logs", "soon").exit_code == 2
    assert concertina("retention", "set", "logs").exit_code == 2
    assert concertina("retention", "set", "everything", "1").exit_code == 4


def test_a_job_says_until_when_it_is_kept(concertina: CommandLine, job_file: Path) -> None:
    concertina("submit", "-f", job_file)
    assert "Kept" not in concertina("describe", "digits").out
    Job.objects.update(state="completed", finished_at=timezone.now() - timedelta(days=1))
    told = concertina("describe", "digits").out
    day = timezone.now() + timedelta(days=89)
    assert f"curves until {day:%Y-%m-%d}, logs until {day:%Y-%m-%d}" in " ".join(told.split())
    concertina("pin", "digits")
    assert "for ever: it is pinned" in concertina("describe", "digits").out


def test_a_team_sees_what_its_jobs_keep_and_an_admin_sets_how_much(
    concertina: CommandLine, job_file: Path
) -> None:
    assert concertina("storage").out.strip() == "0.0 KiB of 4.9 TiB are taken."
    concertina("submit", "-f", job_file)
    Job.objects.update(state="completed", finished_at=timezone.now(), kept_bytes=9 << 30)
    Team.objects.filter(name="vision").update(disk_bytes=9 << 30)
    root = ("--as", "root", "--team", "vision")
    User.objects.create_superuser("root", password="a long password")
    seen = concertina("storage", "--most", "10", *root, stdin="a long password\n")
    said, _, row, *rest = seen.out.splitlines()
    assert said == "9.0 GiB of 10.0 GiB are taken.", seen.err
    assert row.split()[1:4] == ["completed", "9.0", "GiB"]
    assert "names the jobs that keep most" in " ".join(rest)
    Team.objects.filter(name="vision").update(most_disk_gib=8)
    refused = concertina("submit", "-f", job_file)
    assert (refused.exit_code, "more than the 8.0 GiB" in refused.err) == (3, True)
    assert concertina("storage", "--most", "20").exit_code == 5
    concertina("storage", "--most", "0", *root, stdin="a long password\n")
    assert Team.objects.get(name="vision").most_disk_gib is None
