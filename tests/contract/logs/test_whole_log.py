"""Is the whole log of a job one file, of which any part can be had?"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from cluster.logs import log_files
from cluster.logs.log_store import JobLog
from cluster.logs.whole_log import LogWasTrimmed, WholeLog, whole_log
from hypothesis import given
from hypothesis import strategies as st

JOB = "job1"


def write(folder: Path, process: str, content: str, *, start: int = 0) -> None:
    path = log_files.path_of(process, job_id=JOB, state_dir=folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with log_files.next_path(path, start).open("a", newline="") as file:
        file.write(content)


def line(second: int, text: str, stream: str = "stdout") -> str:
    return f"2026-11-21T07:33:{second:02}.000001Z {stream} {text}\n"


def whole(folder: Path, worker: str | None = None) -> WholeLog:
    return whole_log(JobLog(job_id=JOB, state_dir=folder, worker=worker))


def content(log: WholeLog, start: int = 0, end: int | None = None) -> str:
    return b"".join(log.content(start, log.size if end is None else end)).decode()


def test_lines_of_all_workers_are_merged_by_time_and_say_whose_they_are(tmp_path: Path) -> None:
    write(tmp_path, "w1", line(1, "one") + line(4, "four"))
    write(tmp_path, "w2", line(2, "two", "stderr") + line(3, "three"))
    write(tmp_path, "job1-1-coordinator", line(0, "the platform's"))
    assert content(whole(tmp_path)).splitlines() == [
        "w1 2026-11-21T07:33:01.000001Z stdout one",
        "w2 2026-11-21T07:33:02.000001Z stderr two",
        "w2 2026-11-21T07:33:03.000001Z stdout three",
        "w1 2026-11-21T07:33:04.000001Z stdout four",
    ]
    assert content(whole(tmp_path, "w1")).count("\n") == 2
    assert content(whole(tmp_path, "job1-1-coordinator")).endswith("the platform's\n")


def test_a_job_that_wrote_nothing_has_an_empty_file(tmp_path: Path) -> None:
    assert (whole(tmp_path).size, content(whole(tmp_path))) == (0, "")


def test_it_ends_with_the_last_whole_line_and_does_not_grow(tmp_path: Path) -> None:
    write(tmp_path, "w1", line(1, "one") + "2026-11-21T07:33:02.000001Z stdout tw")
    log = whole(tmp_path)
    write(tmp_path, "w1", "o\n" + line(3, "three"))
    assert content(log).count("\n") == 1
    assert content(whole(tmp_path)).count("\n") == 3
    assert whole(tmp_path).etag != log.etag


def test_a_log_of_several_files_is_read_on_and_torn_lines_stay_where_they_are(
    tmp_path: Path,
) -> None:
    first = line(5, "five") + "torn\n"
    write(tmp_path, "w1", first + "half a li")
    write(tmp_path, "w1", line(7, "seven"), start=len(first) + 9)
    write(tmp_path, "w2", line(6, "six"))
    told = [one.rpartition(" ")[2] for one in content(whole(tmp_path)).splitlines()]
    assert told == ["five", "torn", "six", "seven"]


def test_what_is_no_line_of_ours_is_neither_held_nor_lost(tmp_path: Path) -> None:
    write(tmp_path, "w1", line(1, "x" * 300_000) + line(2, "two"))
    found = content(whole(tmp_path))
    assert len(found) == whole(tmp_path).size
    assert found == "w1 " + line(1, "x" * 300_000) + "w1 " + line(2, "two")


_TEXTS = st.text("ab é", max_size=12)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 59), _TEXTS), max_size=30),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_any_part_is_that_part_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[int, int, str]],
    start: int,
    length: int,
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    for worker, second, text in sorted(lines, key=lambda one: one[1]):
        write(folder, f"w{worker}", line(second, text))
    log = whole(folder)
    all_of_it = b"".join(log.content(0, log.size))
    assert len(all_of_it) == log.size
    end = min(start + length, log.size)
    assert b"".join(log.content(start, end)) == all_of_it[start:end]


def test_a_part_that_is_dropped_meanwhile_breaks_it_off(tmp_path: Path) -> None:
    write(tmp_path, "w1", line(1, "one"))
    log = whole(tmp_path)
    assert log.size
    log_files.path_of("w1", job_id=JOB, state_dir=tmp_path).unlink()
    with pytest.raises(LogWasTrimmed):
        list(log.content(0, log.size))
    with pytest.raises(LogWasTrimmed):
        _ = WholeLog(log.processes).size


def test_who_begins_far_into_it_lets_others_have_their_turn(tmp_path: Path) -> None:
    write(tmp_path, "w1", line(1, "x" * 1000) * 3000)
    log = whole(tmp_path)
    *turns, last = log.content(log.size - 5, log.size)
    assert (set(turns), last) == ({b""}, b"xxxx\n")
    assert len(turns) >= 10


def test_a_long_log_takes_the_memory_of_a_few_blocks(tmp_path: Path) -> None:
    for worker in range(8):
        write(tmp_path, f"w{worker}", line(worker, "x" * 1000) * 1500)
    log = whole(tmp_path)
    tracemalloc.start()
    try:
        assert sum(map(len, log.content(0, log.size))) == log.size > 12_000_000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
