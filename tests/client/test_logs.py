from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cluster.logs import log_files
from cluster.logs.log_lines import LineLog
from django.conf import settings

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.client.test_submitting import finish

Write = Callable[..., None]


@pytest.fixture
def job(concertina: CommandLine, job_file: Path) -> Job:
    assert concertina("submit", "-f", job_file).exit_code == 0
    return Job.objects.get()


@pytest.fixture
def write(job: Job) -> Write:
    """Lets a worker of the job write lines, as its supervisor does."""

    def write(*lines: str, worker: int = 0, stream: str = "stdout") -> None:
        process_id = f"{job.id}-1-{worker}"
        log = LineLog(
            log_files.path_of(process_id, job_id=job.id, state_dir=settings.CONCERTINA.state_dir)
        )
        log.write(stream, [line.encode() for line in lines])
        log.close()

    return write


def test_what_workers_wrote_is_printed_in_order(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("first")
    write("second", worker=1, stream="stderr")
    write("third [red]not red[/red]")
    texts = [line.split(" ", 2)[2] for line in concertina("logs", "digits").out.splitlines()]
    assert texts == ["first", "second", "third [red]not red[/red]"]


def test_a_plain_terminal_gets_a_question_mark_for_what_it_lacks(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("Größe → 3")
    plain = replace(concertina, environment={**concertina.environment, "PYTHONIOENCODING": "ascii"})
    with plain.running("logs", "digits") as (_, end):
        ended = end()
    assert ended.exit_code == 0, ended.err
    assert ended.out.endswith("Gr??e ? 3\n")
    with plain.running("logs", "digits", "-o", "json") as (_, end):
        ended = end()
    assert json.loads(ended.out)["text"] == "Größe → 3"
    with plain.running("describe", "digits") as (_, end):
        assert end().exit_code == 0


def test_a_program_gets_one_document_per_line(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("a", "b")
    lines = [
        json.loads(line) for line in concertina("logs", "digits", "-o", "json").out.split("\n")[:-1]
    ]
    assert [(line["text"], line["stream"]) for line in lines] == [("a", "stdout"), ("b", "stdout")]


def test_only_the_last_lines_or_only_those_of_one_worker(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("a", "b")
    write("c", worker=1)
    last = concertina("logs", "digits", "--tail", "1")
    assert last.out.split()[-1] == "c"
    assert "Only the last 1 lines are shown" in last.err
    assert concertina("logs", "digits").err == ""
    assert concertina("logs", "digits", "--worker", f"{job.id}-1-1").out.count("\n") == 1


def test_a_job_that_wrote_nothing_has_an_empty_log(concertina: CommandLine, job: Job) -> None:
    ended = concertina("logs", "digits")
    assert (ended.exit_code, ended.out) == (0, "")


def test_a_log_is_followed_to_the_end_of_its_job(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("before")
    with concertina.running("logs", "-f", "digits") as (running, end):
        running.wait_until_said("before")
        write("meanwhile")
        running.wait_until_said("meanwhile")
        write("last")
        finish(job, JobState.COMPLETED)
        ended = end()
    assert ended.exit_code == 0
    assert [line.split()[-1] for line in ended.out.splitlines()] == ["before", "meanwhile", "last"]


def test_following_begins_with_the_last_lines(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("old", worker=7)
    write("a", "b", "c")
    with concertina.running("logs", "-f", "--tail", "2", "digits") as (running, end):
        running.wait_until_said("c\n")
        write("new", worker=7)
        running.wait_until_said("new")
        finish(job, JobState.COMPLETED)
        out = end().out
    assert [line.split()[-1] for line in out.splitlines()] == ["b", "c", "new"]


def test_a_restart_of_the_api_costs_and_repeats_no_line(
    concertina: CommandLine, job: Job, write: Write, api: RunningApi
) -> None:
    expected = [f"line-{number}" for number in range(60)]
    with concertina.running("logs", "-f", "digits") as (running, end):
        write(*expected[:20])
        running.wait_until_said("line-19")
        for start in (20, 40):
            with api.away():
                write(*expected[start : start + 10])  # workers go on without it
            write(*expected[start + 10 : start + 20])
            running.wait_until_said(expected[start + 19])
        finish(job, JobState.COMPLETED)
        ended = end()
    assert ended.exit_code == 0
    assert [line.split()[-1] for line in ended.out.splitlines()] == expected


def test_an_interrupted_follow_ends_quietly(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    write("a")
    with concertina.running("logs", "-f", "digits") as (running, end):
        running.wait_until_said("a\n")
        running.interrupt()
        ended = end()
    assert ended.exit_code == 130
    assert "Traceback" not in ended.err


def test_a_job_does_not_steer_the_terminal_of_who_reads_its_log(
    concertina: CommandLine, job: Job, write: Write
) -> None:
    orders = "\x1b]0;mine\x07a\x1b[31mred\x1b[0m\x1b[2J\u202eb"
    write(orders)

    def said(*options: str) -> str:
        return concertina("logs", "digits", *options).out.removesuffix("\n")

    assert said().endswith(" aredb")
    assert said("--raw").endswith(f" {orders}")
    assert not {"\x1b", "\x07", "\u202e"} & set(said("-o", "json"))
    assert json.loads(said("-o", "json"))["text"].startswith("\x1b]0;mine")


def test_a_reason_does_not_steer_the_terminal_of_who_reads_it(
    concertina: CommandLine, job: Job
) -> None:
    Job.objects.filter(pk=job.pk).update(message="because\x1b]0;mine\x07 of\x9b31m \u202ethis")
    for command in (("ps",), ("describe", "digits"), ("top", "--once")):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(concertina(*command).out), command
    assert "\x9b" not in concertina("describe", "digits", "-o", "json").out


def test_the_whole_log_is_saved_as_a_file(
    concertina: CommandLine, job: Job, write: Write, tmp_path: Path
) -> None:
    write(*[f"line {number}" for number in range(1500)])
    write("other", worker=1)
    file = tmp_path / "whole.log"
    saved = concertina("logs", "digits", "--save", file)
    assert (saved.exit_code, saved.out.startswith(f"{file}: ")) == (0, True)
    lines = file.read_text().splitlines()
    assert len(lines) == 1501
    assert lines[0].startswith(f"{job.id}-1-0 2")
    assert lines[0].endswith(" stdout line 0")
    one = concertina("logs", "digits", "--worker", f"{job.id}-1-1", "--save", file, "-o", "json")
    assert one.document == {"bytes": file.stat().st_size, "file": str(file)}
    assert file.read_text().count("\n") == 1
    assert concertina("logs", "digits", "--save", file, "--follow").exit_code == 2


def test_a_log_is_saved_where_a_link_leads_and_in_place_of_nothing_but_a_file(
    concertina: CommandLine, job: Job, write: Write, tmp_path: Path
) -> None:
    write("text")
    link, file, pipe = tmp_path / "link", tmp_path / "real" / "file", tmp_path / "pipe"
    link.symlink_to(file)
    assert concertina("logs", "digits", "--save", link).exit_code == 0
    assert (link.is_symlink(), file.read_text().count("\n")) == (True, 1)
    os.mkfifo(pipe)
    for wrong, why in ((tmp_path, "a folder"), (pipe, "no ordinary file"), (Path("/"), "a folder")):
        refused = concertina("logs", "digits", "--save", wrong)
        assert (refused.exit_code, f"it is {why}" in refused.err) == (2, True)
