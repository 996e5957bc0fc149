"""Reading and following the logs that processes leave behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import log_store
from cluster.worker_host import LogLine

JOB = "job1"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., None]:
    def append(process_id: str, *lines: str, end: str = "\n") -> None:
        path = log_store.path_of(process_id, job_id=JOB, state_dir=tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", newline="") as file:
            file.write("\n".join(lines) + end)

    return append


def at(second: int, text: str, stream: str = "stdout") -> str:
    return f"2026-11-21T07:33:{second:02}.000001Z {stream} {text}"


def texts(lines: list[LogLine]) -> list[str]:
    return [line.text for line in lines]


def test_a_job_without_logs_has_no_lines(tmp_path: Path) -> None:
    assert log_store.read(JOB, state_dir=tmp_path) == []
    assert log_store.read(JOB, state_dir=tmp_path, worker="w1", tail=5) == []


def test_lines_of_all_workers_are_merged_by_time(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write("w1", at(1, "one"), at(4, "four"))
    write("w2", at(2, "two"), at(3, "three: with  spaces ", "stderr"))
    lines = log_store.read(JOB, state_dir=tmp_path)
    assert texts(lines) == ["one", "two", "three: with  spaces ", "four"]
    assert (lines[2].process_id, lines[2].stream) == ("w2", "stderr")


def test_the_coordinators_lines_are_shown_only_when_asked_for(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write("w1", at(1, "mine"))
    write("job1-coordinator", at(2, "the platform's"))
    assert texts(log_store.read(JOB, state_dir=tmp_path)) == ["mine"]
    asked = log_store.read(JOB, state_dir=tmp_path, worker="job1-coordinator")
    assert texts(asked) == ["the platform's"]


@pytest.mark.parametrize("tail", [0, 1, 3, 7, 5000])
def test_a_tail_is_the_end_of_all_lines(
    tmp_path: Path, write: Callable[..., None], tail: int
) -> None:
    write("w1", *(at(i % 30, f"{i} {'x' * 200}") for i in range(30)))
    write("w2", *(at(i % 30 + 10, f"{i} {'y' * 2000}") for i in range(30)))
    whole = log_store.read(JOB, state_dir=tmp_path)
    assert log_store.read(JOB, state_dir=tmp_path, tail=tail) == (whole[-tail:] if tail else [])


def test_half_a_line_is_not_yet_a_line(tmp_path: Path, write: Callable[..., None]) -> None:
    write("w1", at(1, "whole"))
    write("w1", "2026-11-21T07:3", end="")
    assert texts(log_store.read(JOB, state_dir=tmp_path)) == ["whole"]
    assert texts(log_store.read(JOB, state_dir=tmp_path, tail=9)) == ["whole"]


@pytest.mark.parametrize("worker", ["../job2/w1", "/etc/passwd", "..", ""])
def test_a_worker_cannot_name_another_jobs_file(tmp_path: Path, worker: str) -> None:
    other = log_store.path_of("w1", job_id="job2", state_dir=tmp_path)
    other.parent.mkdir(parents=True)
    other.write_text(at(1, "secret") + "\n")
    (tmp_path / "logs" / JOB).mkdir()
    assert log_store.read(JOB, state_dir=tmp_path, worker=worker) == []


def test_following_misses_and_repeats_nothing_over_new_workers(
    tmp_path: Path, write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store, "POLL_SECONDS", 0.0)

    def late_lines() -> None:
        write("w1", at(6, "f"))
        write("w2", at(5, "e"))

    looks: list[Callable[[], None]] = [
        lambda: write("w1", at(1, "a"), at(2, "b")),
        lambda: write("w1", at(3, "c, first ha"), end=""),
        lambda: write("w1", "lf"),
        lambda: write("w2", at(4, "d")),
        lambda: None,
        late_lines,
    ]

    async def is_final() -> bool:
        looks.pop(0)()
        return not looks

    async def followed() -> list[LogLine]:
        looks_at = log_store.follow(JOB, state_dir=tmp_path, is_final=is_final)
        return [line async for lines in looks_at for line in lines]

    assert texts(asyncio.run(followed())) == ["a", "b", "c, first half", "d", "e", "f"]


@pytest.mark.parametrize("tail", [0, 1, 3, 7, 5000])
def test_following_may_begin_with_the_last_lines(
    tmp_path: Path, write: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tail: int
) -> None:
    monkeypatch.setattr(log_store, "POLL_SECONDS", 0.0)
    write("w1", *(at(i % 30, f"{i} {'x' * 20_000}") for i in range(30)))
    write("w2", *(at(i % 30 + 10, f"{i} {'y' * 200}") for i in range(30)))
    write("w2", "2026-11-21T07:33:4", end="")
    expected = log_store.read(JOB, state_dir=tmp_path, tail=tail)
    looks: list[Callable[[], None]] = [
        lambda: None,
        lambda: write("w2", "1.000000Z stdout new"),
        lambda: write("w3", at(50, "newer")),
    ]

    async def is_final() -> bool:
        looks.pop(0)()
        return not looks

    async def followed() -> list[list[LogLine]]:
        looks_at = log_store.follow(JOB, state_dir=tmp_path, tail=tail, is_final=is_final)
        return [lines async for lines in looks_at]

    first, *later = asyncio.run(followed())
    assert first == expected
    assert [texts(lines) for lines in later] == [["new"], ["newer"]]
