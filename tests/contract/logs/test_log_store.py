"""Reading and following the logs that processes leave behind."""

from __future__ import annotations

import itertools
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from cluster.logs import log_files, log_positions
from cluster.logs.log_blocks import BLOCK_BYTES
from cluster.logs.log_files import LogBounds, LogFile
from cluster.logs.log_lines import LineLog
from cluster.logs.log_positions import BadLogPosition, LogPositions
from cluster.logs.log_store import DroppedLog, JobLog
from cluster.worker_host import LogLine
from hypothesis import given
from hypothesis import strategies as st

JOB = "job1"
SMALL = LogBounds(process_bytes=4000, job_bytes=10_000)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., None]:
    def append(process_id: str, *lines: str, end: str = "\n") -> None:
        path = log_files.path_of(process_id, job_id=JOB, state_dir=tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", newline="") as file:
            file.write("\n".join(lines) + end)

    return append


def at(second: int, text: str, stream: str = "stdout") -> str:
    return f"2026-11-21T07:33:{second:02}.000001Z {stream} {text}"


def texts(lines: list[LogLine]) -> list[str]:
    return [line.text for line in lines]


def read(folder: Path, *, worker: str | None = None, tail: int = 100_000) -> list[LogLine]:
    return JobLog(job_id=JOB, state_dir=folder, worker=worker).page(tail=tail).lines


def held_bytes(folder: Path) -> int:
    logs = log_files.logs_in(log_files.folder_of(JOB, state_dir=folder))
    return sum(file.size for log in logs for file in log.files)


def test_a_job_without_logs_has_no_lines(tmp_path: Path) -> None:
    assert read(tmp_path) == []
    assert read(tmp_path, worker="w1", tail=5) == []


def test_lines_of_all_workers_are_merged_by_time(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write("w1", at(1, "one"), at(4, "four"))
    write("w2", at(2, "two"), at(3, "three: with  spaces ", "stderr"))
    lines = read(tmp_path)
    assert texts(lines) == ["one", "two", "three: with  spaces ", "four"]
    assert (lines[2].process_id, lines[2].stream) == ("w2", "stderr")


def test_the_coordinators_lines_are_shown_only_when_asked_for(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write("w1", at(1, "mine"))
    write("job1-2-coordinator", at(2, "the platform's"))
    assert texts(read(tmp_path)) == ["mine"]
    assert texts(read(tmp_path, worker="job1-2-coordinator")) == ["the platform's"]


@pytest.mark.parametrize("tail", [0, 1, 3, 7, 59, 5000])
def test_a_tail_is_the_end_of_all_lines(
    tmp_path: Path, write: Callable[..., None], tail: int
) -> None:
    write("w1", *(at(i % 30, f"{i} {'x' * 20_000}") for i in range(30)))
    write("w2", *(at(i % 30 + 10, f"{i} {'y' * 200}") for i in range(30)))
    write("w2", "2026-11-21T07:33:4", end="")
    whole = read(tmp_path)
    assert len(whole) == 60
    page = JobLog(job_id=JOB, state_dir=tmp_path).page(tail=tail)
    assert page.lines == (whole[-tail:] if tail else [])
    assert page.beginning.has_earlier is (tail < 60)


def test_an_answer_is_bounded_however_long_its_lines_are(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write("w1", *(at(i, "x" * 1000) for i in range(30)))
    page = JobLog(job_id=JOB, state_dir=tmp_path).page(tail=30, most_bytes=5000)
    assert (len(page.lines), page.beginning.has_earlier) == (4, True)


def test_half_a_line_is_not_yet_a_line(tmp_path: Path, write: Callable[..., None]) -> None:
    write("w1", at(1, "whole"))
    write("w1", "2026-11-21T07:3", end="")
    assert texts(read(tmp_path)) == ["whole"]
    assert texts(read(tmp_path, tail=9)) == ["whole"]


@pytest.mark.parametrize("worker", ["../job2/w1", "/etc/passwd", "..", ""])
def test_a_worker_cannot_name_another_jobs_file(tmp_path: Path, worker: str) -> None:
    other = log_files.path_of("w1", job_id="job2", state_dir=tmp_path)
    other.parent.mkdir(parents=True)
    other.write_text(at(1, "secret") + "\n")
    (tmp_path / "logs" / JOB).mkdir()
    assert read(tmp_path, worker=worker) == []


def test_following_misses_and_repeats_nothing_over_new_workers(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    log = JobLog(job_id=JOB, state_dir=tmp_path)
    positions = log.first().positions

    def news() -> list[str]:
        return [one.text for one in log.news(positions) if isinstance(one, LogLine)]

    write("w1", at(1, "a"), at(2, "b"))
    assert news() == ["a", "b"]
    write("w1", at(3, "c, first ha"), end="")
    assert news() == []
    write("w1", "lf")
    write("w2", at(4, "d"))
    assert news() == ["c, first half", "d"]
    write("w1", at(6, "f"))
    write("w2", at(5, "e"))
    assert news() == ["e", "f"]
    assert news() == []


@given(
    told=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 900)), max_size=25),
    breaks=st.lists(st.integers(0, 25), max_size=5),
    tail=st.integers(0, 30),
)
def test_a_reader_goes_on_behind_any_line_over_any_number_of_files(
    tmp_path_factory: pytest.TempPathFactory,
    told: list[tuple[str, int]],
    breaks: list[int],
    tail: int,
) -> None:
    """It stops at any line, and another goes on from the text that came with it."""
    folder = tmp_path_factory.mktemp("logs")
    bounds = LogBounds(process_bytes=1 << 20, job_bytes=1 << 30)
    tiny = LogBounds(process_bytes=2000)  # files of 500 bytes, none of which goes
    for number, (name, size) in enumerate(told):
        path = log_files.path_of(f"{JOB}-1-{name}", job_id=JOB, state_dir=folder)
        room = LogBounds(process_bytes=1 << 30) if number % 2 else bounds
        log_line(path, f"{number} {'x' * size}", room, go_on=size % 3 == 0, tiny=tiny)
    log = JobLog(job_id=JOB, state_dir=folder)
    whole = texts(log.page(tail=1000).lines)
    assert [int(text.split()[0]) for text in whole] == list(range(len(told)))
    seen: list[str] = []
    text = log.last(tail).positions.text()
    for most in [*breaks, None]:
        positions = log_positions.parse(text, job_id=JOB)
        for line in itertools.islice(log.news(positions), most):
            assert isinstance(line, LogLine)
            seen.append(line.text)
            text = positions.text()
    assert seen == (whole[-tail:] if tail else [])


def log_line(path: Path, text: str, bounds: LogBounds, *, go_on: bool, tiny: LogBounds) -> None:
    """One line, at times in a file of its own."""
    log = LineLog(path, bounds)
    log.write("stdout", [text.encode()])
    log.close()
    newest = log_files.logs_in(path.parent, process_id=path.stem)[0].files[-1]
    if go_on and newest.size > tiny.file_bytes:
        log_files.next_path(path, newest.end).touch()


def test_a_job_that_writes_without_end_keeps_its_last_lines(tmp_path: Path) -> None:
    path = log_files.path_of("w1", job_id=JOB, state_dir=tmp_path)
    log = LineLog(path, SMALL)
    reader = JobLog(job_id=JOB, state_dir=tmp_path)
    positions = reader.first().positions
    for number in range(1000):
        log.write("stdout", [b"%d" % number])
        assert held_bytes(tmp_path) <= SMALL.process_bytes + 100
    page = reader.page(tail=20)
    assert texts(page.lines) == [str(number) for number in range(980, 1000)]
    assert page.beginning.is_trimmed
    cut, *rest = reader.news(positions)
    left = [line.text for line in rest if isinstance(line, LogLine)]
    assert left == [str(number) for number in range(1000 - len(left), 1000)]
    assert isinstance(cut, DroppedLog)
    assert cut.size == log_files.logs_in(path.parent)[0].start
    log.close()


def test_what_is_dropped_is_older_than_all_that_is_kept(tmp_path: Path) -> None:
    """Also where a short old file would still find room."""
    log = LineLog(log_files.path_of("w1", job_id=JOB, state_dir=tmp_path), SMALL)
    for size in (964, 1950, 1950, 1):
        log.write("stdout", [b"x" * size])
    log.close()
    assert [len(text) for text in texts(read(tmp_path))] == [1950, 1]


def test_of_a_job_with_many_processes_the_oldest_logs_go_but_none_that_is_written_to(
    tmp_path: Path,
) -> None:
    def log_of(name: str) -> LineLog:
        return LineLog(log_files.path_of(name, job_id=JOB, state_dir=tmp_path), SMALL)

    quiet = log_of("quiet")
    quiet.write("stdout", [b"first"])
    for number in range(40):
        log = log_of(f"w{number}")
        log.write("stdout", [b"x" * 900])
        log.close()
        assert held_bytes(tmp_path) <= SMALL.job_bytes
    quiet.write("stdout", [b"last"])
    assert texts(read(tmp_path, worker="quiet")) == ["first", "last"]
    assert read(tmp_path, worker="w0") == []
    assert texts(read(tmp_path, worker="w39")) == ["x" * 900]
    assert JobLog(job_id=JOB, state_dir=tmp_path).page(tail=1).beginning.is_trimmed
    quiet.close()


@pytest.mark.parametrize("content", [b"x" * (12 << 20), b"\n" * (1 << 19)])
def test_a_file_that_is_no_log_takes_no_memory(tmp_path: Path, content: bytes) -> None:
    path = log_files.path_of("w1", job_id=JOB, state_dir=tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(content + b"\n" + at(1, "line").encode() + b"\n")
    log = JobLog(job_id=JOB, state_dir=tmp_path)
    tracemalloc.start()
    assert texts(log.page(tail=10).lines) == ["line"]
    assert texts([one for one in log.news(LogPositions(JOB)) if isinstance(one, LogLine)]) == [
        "line"
    ]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * BLOCK_BYTES


def test_of_very_many_processes_only_the_last_are_named(tmp_path: Path) -> None:
    logs = [
        log_files.ProcessLog(f"{JOB}-1-{n}", (LogFile(tmp_path, f"{JOB}-1-{n}", 0, 10, n),))
        for n in range(1, 901)
    ]
    positions = LogPositions(JOB, {log.process_id: log.end for log in logs})
    positions.settle(logs)
    text = positions.text()
    assert len(text) < 2000
    again = log_positions.parse(text, job_id=JOB)
    assert [again.of(log) for log in logs] == [10] * 900
    new = LogFile(tmp_path, "new", 0, 10, 901)
    assert again.of(log_files.ProcessLog("new", (new,))) == 0


def test_no_place_is_given_out_that_is_not_taken_back(tmp_path: Path) -> None:
    """Of 600 processes, read from the beginning, broken at any line and followed on."""
    for number in range(600):
        path = log_files.path_of(f"{JOB}-1-{number}", job_id=JOB, state_dir=tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(at(number % 60, f"{number}").replace(":33:", f":{number // 60:02}:") + "\n")
        os.utime(path, ns=(number + 1, number + 1))
    log = JobLog(job_id=JOB, state_dir=tmp_path)
    positions, given = log.first().positions, list[str]()
    for _ in log.news(positions):
        given.append(positions.text())
    assert list(log.news(positions)) == []
    given.append(positions.text())
    assert all(len(quote(text, safe="")) < 4000 for text in given)
    assert "" in given
    assert given[-1]
    assert list(log.news(log_positions.parse(given[-1], job_id=JOB))) == []
    begin = log.last(10).positions.text()
    assert begin
    assert len(list(log.news(log_positions.parse(begin, job_id=JOB)))) == 10


@pytest.mark.parametrize("text", ["x", "a:", "a:g", "../a:1", "a:1;b:2", "@", "a:1" * 9000, "é:1"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(BadLogPosition):
        log_positions.parse(text, job_id=JOB)
