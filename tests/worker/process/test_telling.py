"""One call tells how far a script is: it costs nothing, and needs nothing but Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from concertina_worker.plain.telling import ReportFile


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def lines(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_is_written_at_most_once_a_second_and_the_newest_at_the_end(tmp_path: Path) -> None:
    clock = Clock()
    file = ReportFile(str(tmp_path / "w.jsonl"), clock=clock, now=clock)
    for step in range(25):
        file.tell({"step": step})
        clock.seconds += 0.125
    file.flush()
    file.flush()
    assert [line["step"] for line in lines(tmp_path / "w.jsonl")] == [0, 8, 16, 24]
    assert lines(tmp_path / "w.jsonl")[-1]["at"] == 103.0


def test_values_that_were_told_between_two_lines_are_not_lost(tmp_path: Path) -> None:
    clock = Clock()
    file = ReportFile(str(tmp_path / "w.jsonl"), clock=clock, now=clock)
    file.tell({"step": 1})
    file.tell({"step": 2, "accuracy": 0.5})
    file.tell({"step": 3})
    file.flush()
    assert lines(tmp_path / "w.jsonl")[-1] == {"step": 3, "accuracy": 0.5, "at": 100.0}


def test_a_folder_that_is_gone_harms_no_training(tmp_path: Path) -> None:
    ReportFile(str(tmp_path / "gone" / "w.jsonl")).tell({"step": 1})


def ran(script: str, **environment: str) -> str:
    answer = subprocess.run(
        (sys.executable, "-c", script),
        env={"PYTHONPATH": str(Path(__file__).parents[3] / "worker_image"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


SCRIPT = """
import sys
import concertina_worker
for step in range(1000):
    concertina_worker.report(step=step, samples=step * 8, loss=1 / (step + 1), total_steps=1000)
print(*sorted({"torch", "numpy"} & set(sys.modules)))
"""


def test_it_needs_neither_torch_nor_a_registration(tmp_path: Path) -> None:
    path = tmp_path / "w.jsonl"
    assert ran(SCRIPT, CONCERTINA_REPORT_FILE=str(path)) == "\n"
    last = lines(path)[-1]
    assert (last["step"], last["samples"], last["total_steps"]) == (999, 7992, 1000)
    assert last["loss"] == 0.001


def test_without_the_platform_nothing_is_told(tmp_path: Path) -> None:
    assert ran(SCRIPT, HOME=str(tmp_path)) == "\n"
    assert not list(tmp_path.iterdir())
